"""The measured job: a loader, its chain, its caches and its blocks. Answers what the engine asks.

Knows nothing of sockets and of who drives the training loop. Not thread safe.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Optional

from . import _facts, _trees
from ._attempts import Room
from ._blocks import Block, DeviceMarks
from ._chain import READ, TRANSFER, Chain, chain_of_iterable, chain_of_loader
from ._feed_maker import FeedMaker
from ._feeds import HeldBatches
from ._orders import Order
from ._shadow import ShadowLoader
from ._shadow_arguments import OVERRIDES
from ._state import KeptState
from ._tasks import FILL, IDLE, INSIDE, LIVE, PROBE, Task

Progress = Callable[[str], None]
"""Called between batches that are cached. May raise to give up."""


class Job:
    """Measures `loader`: a torch DataLoader, or any iterable of batches.

    `device`: the torch.device of the step, or None for the CPU. `writes_batches`: the step changes
    its batches in place. `name`: of the report. `exact`: seed of random draws that repeat, for
    tests.
    """

    def __init__(
        self,
        loader: Any,
        state: KeptState,
        device: Any = None,
        writes_batches: bool = False,
        name: str = "",
        train: str = "step",
        exact: Optional[int] = None,
    ) -> None:
        self.loader = loader
        self.state = state
        self.device = device if device is not None and device.type != "cpu" else None
        self.name = name
        self.train = train
        self.notes: list[str] = []
        self.room = Room()
        self._marks = DeviceMarks(self.device)
        self._held = HeldBatches(serve_copies=writes_batches)
        self._shadow: Optional[ShadowLoader] = None
        self._variants: dict[str, ShadowLoader] = {}
        self._order: Optional[Order] = None
        self._iterator: Any = None
        self._blocks = 0
        self._fills = 0
        self._cached_batches = 0
        try:
            self.chain = self._find_chain()
        except BaseException:
            self._close_loaders()
            raise
        self.batch_size = self._held.sizes[0]
        self._feeds = FeedMaker(
            self.chain, self._held, self.batch_size, self._order, self._shadow, self._next_batch
        )
        self._feeds.exact = exact

    @property
    def workers(self) -> int:
        """Of the loader; 0: the training process loads."""
        return self._shadow.workers if self._shadow else 0

    # The chain

    def _find_chain(self) -> Chain:
        on_device = self.device is not None
        if not _facts.is_torch_loader(self.loader):
            self._held.sizes = [_trees.count_samples(self._next_batch()) or 1]
            return chain_of_iterable(self.loader, on_device)
        self._shadow = ShadowLoader(self.loader)
        if not self._shadow.iterable:
            self._order = Order(self.loader)
        found = self._probe(self._shadow)
        chain = chain_of_loader(self.loader, found["stages"], on_device)
        if found["note"]:
            chain.notes.append(found["note"])
        return chain

    def _probe(self, shadow: ShadowLoader) -> dict[str, Any]:
        """Asks a worker what is called for a sample, then makes one batch to learn its size."""
        found: dict[str, Any] = self._ask_worker(shadow, PROBE, (), self._drawn)
        batch = self._ask_worker(shadow, LIVE, (), self._drawn)
        size = self._order.drawn // 2 if self._order else self.loader.batch_size or 1
        if size <= 1:
            size = _trees.count_samples(batch) or 1
        self._held.sizes = [size]
        return found

    def _drawn(self) -> Any:
        return self._order.draw() if self._order else None

    def _ask_worker(
        self, shadow: ShadowLoader, mode: int, plan: tuple[str, ...], pick: Callable[[], Any]
    ) -> Any:
        """What the first worker that delivers answers to one task. `pick` gives its indices."""
        self._blocks += 1
        block, left, empties = self._blocks, [1], shadow.empties

        def make(number: int) -> Task:
            if left[0] + shadow.empties - empties <= 0:
                return Task(number, IDLE, LIVE, 0, 0, None, (), False, 0, 0)
            left[0] -= 1
            return Task(number, block, mode, 0, 0, pick(), plan, False, 0, 0)

        try:
            shadow.begin(block, make)
            return shadow.receive()
        finally:
            shadow.end()

    def look_inside(self, stage: str, samples: int) -> bool:
        """Makes stages of functions that `stage`, the dataset's own code, calls. True if it found
        some: the chain has changed, and the caches are empty. Adds a note otherwise."""
        read = next((s.name for s in self.chain.stages if s.place == READ), None)
        if self._shadow is None or stage != read:
            self.chain.notes = [f"--inside: '{stage}' is not the dataset's own code"]
            return False
        batches = -(-samples // self.batch_size)
        found = self._ask_worker(
            self._shadow, INSIDE, self.chain.plan, lambda: [self._drawn() for _ in range(batches)]
        )
        if found["stages"] is None:
            self.chain.notes = [f"--inside: {found['note']}"]
            return False
        self.chain = chain_of_loader(self.loader, found["stages"], self.device is not None)
        self._feeds.chain = self.chain
        self._held.clear()
        return True

    def _next_batch(self) -> Any:
        """The next batch of a loader that is no torch DataLoader."""
        for _ in range(2):
            if self._iterator is None:
                self._iterator = iter(self.loader)
            try:
                return next(self._iterator)
            except StopIteration:
                self._iterator = None
        raise ValueError("the loader gave no batch")

    def describe(self, expected_rate: Optional[float], notes: list[str]) -> dict[str, Any]:
        """Fields of the answer to `describe`."""
        workers = self.workers
        in_flight = self._shadow.in_flight if self._shadow else 0
        chain: dict[str, Any] = {
            "name": self.name,
            "batch_size": self.batch_size,
            "workers": workers,
            "loader": "batch",
            "ring_slots": in_flight + 1 if workers else 0,
            "ring_prefetch": in_flight,
            "train_threads": _facts.threads(),
            "samples": _facts.length_of(self.loader),
            "shuffle": True,
            "train": self.train,
            "weights_restored": bool(self.state),
            "copy_pinned": bool(getattr(self.loader, "pin_memory", False)) and bool(self.device),
            "copy_non_blocking": False,
            "device_kind": "cuda" if self.device is not None else "cpu",
            "device_name": _facts.device_name(self.device),
            "usable_cpus": len(os.sched_getaffinity(0)),
            "stages": [stage.to_json() for stage in self.chain.stages],
        }
        if not self.state:
            notes = [*notes, "weights are not restored between rounds: no state was given"]
        answer: dict[str, Any] = {"chain": chain, "arms": self.arms()}
        answer["notes"] = [*notes, *self.notes, *self.chain.notes]
        if expected_rate is not None:
            answer["expect_samples_per_second"] = expected_rate
        return answer

    def arms(self) -> list[dict[str, Any]]:
        """What run() accepts."""
        last = self.chain.last
        arms: list[dict[str, Any]] = [{"kind": "replay", "boundaries": list(range(last + 1))}]
        if self._shadow is None:
            return arms
        arms.append({"kind": "bypass", "stages": self._bypassed()})
        if self._shadow.knows_what_is_ready:
            arms.append({"kind": "shadow"})
        arms.append({"kind": "live"})
        return arms

    def _bypassed(self) -> list[int]:
        """Stages that can be skipped alone."""
        stages = enumerate(self.chain.stages, start=1)
        return [number for number, stage in stages if stage.place != TRANSFER]

    def supports(self, arm: dict[str, Any]) -> bool:
        """True if a live arm with overrides can run."""
        if arm.get("kind") != "live" or self._shadow is None:
            return False
        if not set(arm.get("overrides", {})) <= set(OVERRIDES):
            return False
        try:
            self._variant(arm)
        except (TypeError, ValueError):
            return False
        return True

    def _variant(self, arm: dict[str, Any]) -> Optional[ShadowLoader]:
        texts = arm.get("overrides") or {}
        if arm.get("kind") != "live" or not texts:
            return self._shadow
        key = json.dumps(texts, sort_keys=True)
        if key not in self._variants:
            overrides = {path: json.loads(text) for path, text in texts.items()}
            self._variants[key] = ShadowLoader(self.loader, overrides)
        return self._variants[key]

    # The caches

    def fill(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Caches about `samples` samples at every boundary. Returns `cache` of docs/protocol.md."""
        began = time.monotonic()
        workers = max(1, self.workers)
        batches = max(1, -(-samples // self.batch_size))
        batches = -(-batches // workers) * workers
        held = self._held
        held.clear()
        if self._shadow is None:
            self._keep([self._next_batch() for _ in range(batches)], progress)
        else:
            self._fill_from_workers(self._shadow, batches, progress)
        self._cached_batches = batches
        self._note_copies()
        sizes = self.item_bytes()
        count = sum(held.sizes)
        device = sizes[-1] * count if held.device else 0
        return {
            "samples": count,
            "bytes_host": sum(sizes) * count - device,
            "bytes_device": device,
            "limited_by": "",
            "seconds": time.monotonic() - began,
            "item_bytes": sizes,
        }

    def _fill_from_workers(self, shadow: ShadowLoader, batches: int, progress: Progress) -> None:
        self._blocks += 1
        self._fills += 1
        block, fill, asked = self._blocks, self._fills, [0]
        empties, exact = shadow.empties, self._feeds.exact

        def make(number: int) -> Task:
            if asked[0] >= batches + shadow.empties - empties:
                return Task(number, IDLE, LIVE, 0, 0, None, (), False, 0, 0)
            asked[0] += 1
            indices = self._order.draw() if self._order else None
            self._held.indices.append(indices)
            return Task(number, block, FILL, 0, 0, indices, self.chain.plan, False, 0, fill, exact)

        try:
            shadow.begin(block, make)
            for _ in range(batches):
                self._keep([shadow.receive()], progress)
        finally:
            shadow.end()

    def _keep(self, batches: list[Any], progress: Progress) -> None:
        held = self._held
        for batch in batches:
            kept = _trees.clone(batch)
            if getattr(self.loader, "pin_memory", False) and self.device is not None:
                kept = _trees.pin(kept)
            held.host.append(kept)
            if self.device is not None:
                held.device.append(_trees.to_device(kept, self.device))
            held.sizes.append(self._size(len(held.sizes), batch))
            progress(f"{len(held.host)} batches cached")

    def _size(self, number: int, batch: Any) -> int:
        if self._order is not None and self.loader.batch_sampler is not None:
            return self._order.count(self._held.indices[number])
        return _trees.count_samples(batch) or self.batch_size

    def _note_copies(self) -> None:
        note = "a stage writes into its input: cached values are copied before they are served"
        if self._shadow is not None and self._shadow.area.copies() and note not in self.notes:
            self.notes.append(note)

    def item_bytes(self) -> list[float]:
        """Mean bytes per cached sample at boundaries 0 to n."""
        count = max(1, sum(self._held.sizes))
        whole = sum(_trees.nbytes(batch) for batch in self._held.host) / count
        inside: list[float] = []
        if self._shadow is not None:
            inside = self._shadow.area.bytes_per_sample(len(self.chain.plan) + 3)
        sizes = [8.0]
        for boundary in range(1, self.chain.last + 1):
            counted = self.chain.counted_stage(boundary - 1)
            if counted is not None:
                sizes.append(inside[counted + 1])
            else:
                sizes.append(8.0 if self.chain.place(boundary) == "sampler" else whole)
        return sizes

    def sizes(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Fields of the answer to `sizes`."""
        facts = self.fill(samples, progress)
        workers = max(1, self.workers)
        in_flight = self._shadow.in_flight if self._shadow else 0
        return {
            "item_bytes": facts["item_bytes"],
            "samples_in_flight": (in_flight + 1) * self.batch_size,
            "round_to": self.batch_size * workers,
            "device_free_bytes": _facts.free_bytes(self.device),
        }

    # Rounds and blocks

    @property
    def cached_samples(self) -> int:
        """K: samples in the caches."""
        return sum(self._held.sizes)

    def begin_round(self) -> None:
        """Restores the state and moves on in the caches."""
        self.state.restore()
        self._feeds.first += 1

    def begin_block(self, request: dict[str, Any]) -> Block:
        """Starts the block of a `run` request."""
        self._blocks += 1
        shadow = self._variant(request["arm"])
        feed = self._feeds.feed(request["arm"], shadow)
        order = self._order
        block = Block(
            request, feed, self.chain, shadow, self._marks, lambda: order.seconds if order else 0.0
        )
        block.begin(self._blocks)
        return block

    def cpu_seconds(self) -> float:
        """CPU time of this process and of all its children so far."""
        times = os.times()
        loaders = [s for s in (self._shadow, *self._variants.values()) if s is not None]
        own = times.user + times.system + times.children_user + times.children_system
        return own + sum(loader.cpu_seconds() for loader in loaders)

    def close(self) -> None:
        """Ends all workers and frees all caches."""
        self._close_loaders()
        self._held = HeldBatches()
        self._feeds.held = self._held

    def _close_loaders(self) -> None:
        for shadow in (self._shadow, *self._variants.values()):
            if shadow is not None:
                shadow.close()
        self._variants.clear()
