"""Fills the caches: those of the workers, and the batches that the training process keeps."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Callable

from .._chain import pinning, tree_sizes, trees
from .._chain.description import COPY, NODE, Chain
from .._chain.facts import free_bytes
from .._worker.tasks import FILL, Task
from .feeds import HeldBatches
from .loaders import MeasuredLoader
from .node_fill import kept_like
from .shadow import ShadowLoader

Progress = Callable[[str], None]
"""Called between batches that are cached. May raise to give up."""


class Caches:
    """The caches at all boundaries of `chain`. `device`: where batches are copied to, or None."""

    def __init__(
        self, loader: MeasuredLoader, chain: Chain, held: HeldBatches, device: Any
    ) -> None:
        self.held = held
        self.notes: list[str] = []
        self._loader = loader
        self._chain = chain
        self._device = device
        self._pins = pinning.happens(loader.own)
        self._fills = 0
        self._sized_batches = 0
        self._facts: dict[str, Any] = {}

    def clear(self) -> None:
        """Frees what the training process keeps."""
        self.held.clear()

    def use_chain(self, chain: Chain) -> None:
        """The loader has other stages from now on: what is cached does not fit them."""
        self._chain = chain
        self._sized_batches = 0
        self.clear()

    @property
    def samples(self) -> int:
        """K: samples in the caches."""
        return sum(self.held.sizes)

    @property
    def batches(self) -> int:
        """That the caches hold."""
        return len(self.held.sizes)

    def fill(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Caches about `samples` samples; returns `cache` of docs/extend/protocol.md."""
        began = time.monotonic()
        workers = max(1, self._loader.workers)
        batches = max(1, -(-samples // self._loader.batch_size))
        batches = -(-batches // workers) * workers
        sized, self._sized_batches = self._sized_batches, 0
        if batches == sized:  # By the `sizes` just before.
            return self._facts
        self.clear()
        if self._loader.shadow is None:
            # One by one: some iterators give the same memory again.
            self._keep(self._loader.next_batches(batches), progress)
        else:
            self._fill_from_workers(self._loader.shadow, batches, progress)
        self.held.keep_digests()
        self._note_copies()
        sizes = self.item_bytes()
        count = self.samples
        on_device = self._chain.stages[-1].held == "device"
        device = sizes[-1] * count if on_device else 0
        return {
            "samples": count,
            "bytes_host": sum(sizes) * count - device,
            "bytes_device": device,
            "limited_by": "",
            "seconds": time.monotonic() - began,
            "item_bytes": sizes,
            "idle_workers": self._loader.idle_workers(),
        }

    def _fill_from_workers(self, shadow: ShadowLoader, batches: int, progress: Progress) -> None:
        self._fills += 1
        block, fill = self._loader.next_block(), self._fills
        plan = self._chain.plan

        def make(number: int) -> Task:
            indices = self._loader.order.draw() if self._loader.order else None
            self.held.indices.append(indices)
            return Task(number, block, FILL, 0, 0, indices, plan, False, 0, fill)

        try:
            shadow.begin_some(block, batches, make)
            for _ in range(batches):
                self._keep([shadow.receive()], progress)
        finally:
            shadow.end()

    def _keep(self, batches: Iterable[Any], progress: Progress) -> None:
        held = self.held
        for batch in batches:
            kept = trees.clone(batch) if self._loader.nodes is None else kept_like(batch)
            held.host.append(kept)
            if self._pins:
                if not held.pinned:
                    held.pin_python_seconds = pinning.python_seconds(kept)
                kept = pinning.pin(kept)
                held.pinned.append(kept)
            if self._chain.has(COPY):
                held.device.append(trees.to_device(kept, self._device))
            held.sizes.append(self._size(len(held.sizes), batch))
            progress(f"{len(held.host)} batches cached")

    def _size(self, number: int, batch: Any) -> int:
        if self._loader.samples_per_batch:
            return self._loader.samples_per_batch
        if self._loader.order is not None and self._loader.own.batch_sampler is not None:
            return self._loader.order.count(self.held.indices[number])
        return trees.count_samples(batch) or self._loader.batch_size

    def _note_copies(self) -> None:
        note = "a stage writes into its input: cached values are copied before they are served"
        shadow, nodes = self._loader.shadow, self._loader.nodes
        copies = shadow.area.copies() if shadow is not None else nodes and nodes.copies_written
        if copies and note not in self.notes:
            self.notes.append(note)

    def item_bytes(self) -> list[float]:
        """Mean bytes per cached sample at boundaries 0 to n."""
        count = max(1, sum(self.held.sizes))
        whole = sum(tree_sizes.nbytes(batch) for batch in self.held.host) / count
        inside: list[float] = []
        if self._loader.shadow is not None:
            inside = self._loader.shadow.area.bytes_per_sample(len(self._chain.plan) + 3)
        sizes = [8.0]
        for boundary in range(1, self._chain.last + 1):
            counted = self._chain.counted_stage(boundary - 1)
            if self._chain.place(boundary) == NODE and self._loader.nodes is not None:
                sizes.append(self._loader.nodes.bytes_at(boundary) / count)
            elif counted is not None:
                sizes.append(inside[counted + 1])
            else:
                sizes.append(8.0 if self._chain.place(boundary) == "sampler" else whole)
        return sizes

    def sizes(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Fields of the answer to `sizes`."""
        facts = self.fill(samples, progress)
        self._facts, self._sized_batches = facts, len(self.held.host)
        workers = max(1, self._loader.workers)
        return {
            "item_bytes": facts["item_bytes"],
            "samples_in_flight": (self._loader.in_flight + 1) * self._loader.batch_size,
            "round_to": self._loader.batch_size * workers,
            "device_free_bytes": free_bytes(self._device),
        }
