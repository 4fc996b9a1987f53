"""The loader that is measured: its workers, its order, and loaders like it with other arguments."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

from .._chain import facts, trees
from .._chain.description import Chain, chain_of_loader
from .._chain.orders import Order
from .._chain.restart import Restarting
from .._chain.settings import CACHE, ON_DEVICE, READ_CACHE
from .._chain.snapshots import snapshot_notes
from .._chain.use_watch import Unused
from .._worker.tasks import INSIDE, LIVE, PROBE, Task
from .._worker.threaded_reads import ThreadedReads
from .._worker.worker_end import end_iterator
from .filled_datasets import FilledDatasets
from .found_nodes import arms_of_members
from .member_arms import MemberArms
from .other_batches import chain_of_batches, why_it_ended
from .page_faults import count_page_faults, worth_counting
from .patience import Patience
from .shadow import ShadowLoader
from .shared_streams import shared_streams
from .worker_findings import WorkerFindings

PROBE_SECONDS = 120.0
"""Within which a worker makes one batch before anything is measured."""


class MeasuredLoader:
    """`loader`: a torch DataLoader, or any iterable of batches. Starts its workers.
    `samples_per_batch`: what each batch counts as; None: as its loader or its tensors say.

    Raises what the loader raises.
    """

    def __init__(self, loader: Any, samples_per_batch: Optional[int] = None) -> None:
        self.own = loader
        self.samples_per_batch = samples_per_batch
        self.shadow: Optional[ShadowLoader] = None
        """None for an iterable."""
        self.nodes: Optional[MemberArms] = None
        """Of a pipeline of other libraries whose members are measured."""
        self.order: Optional[Order] = None
        """None for an iterable, and for an IterableDataset."""
        self.batch_size = 0
        """Set by find_chain()."""
        self.found = WorkerFindings()
        self._variants: dict[str, ShadowLoader] = {}
        self._filled = FilledDatasets(loader)
        self._threaded: list[ThreadedReads] = []
        self._batches = Restarting(loader)
        self._blocks = 0

    def find_chain(self, on_device: bool) -> Chain:
        """Makes a few samples. `on_device`: a copy to the device belongs to the chain."""
        if not facts.is_torch_loader(self.own):
            return self._chain_of_iterable(on_device)
        self.shadow = ShadowLoader(self.own)
        if not self.shadow.iterable:
            self.order = Order(self.own)
        found, counted = self._probe(self.shadow)
        chain = chain_of_loader(self.own, found, on_device)
        chain.notes += [*counted, *snapshot_notes(self.own)]
        if found["note"]:
            chain.notes.append(found["note"])
        return chain

    def _chain_of_iterable(self, on_device: bool) -> Chain:
        self.nodes, notes = arms_of_members(self.own)
        [batch] = self.next_batches(1)
        chain = chain_of_batches(self.own, self.nodes, batch, on_device)
        chain.notes += [*notes, self._count(batch)]
        return chain

    @property
    def workers(self) -> int:
        """0: the training process loads."""
        if self.shadow is None:  # Workers of a loader measured as a whole come in turns, too.
            return int(getattr(self.own, "num_workers", 0) or 0)
        return self.shadow.workers

    @property
    def in_flight(self) -> int:
        """Batches that are asked for in advance."""
        return self.shadow.in_flight if self.shadow else 0

    def worker_facts(self, unused: Sequence[Unused] = ()) -> dict[str, Any]:
        """Fields of `chain` that tell of the workers. `unused`: tensors of a batch that the step
        does not read."""
        if self.shadow is None or self.workers == 0:
            sending = self.found.sending
            return {"sending": sending.to_json() if sending else None}
        self.found.note_unused(unused, self.own.collate_fn)
        return {
            "worker_threads": self.found.threads,
            "worker_bytes": facts.private_bytes(self.shadow.area.pids()),
            "batch_contents": self.found.contents,
        }

    def idle_workers(self) -> int:
        """Workers that had nothing to deliver."""
        return len(self.shadow.area.empty_workers()) if self.shadow else 0

    def next_block(self) -> int:
        """A number that no block had before."""
        self._blocks += 1
        return self._blocks

    def next_batch(self) -> Any:
        """The next batch of a loader that is no torch DataLoader. Raises ValueError if it has
        ended for good."""
        try:
            return self._batches.next()
        except StopIteration:
            raise ValueError(why_it_ended(self.own)) from None

    def next_batches(self, count: int) -> Iterator[Any]:
        """So many batches of such a loader, which its nodes keep the items of, if it has some."""
        if self.nodes is not None:
            return self.nodes.fill(count)
        return (self.next_batch() for _ in range(count))

    def make_room(self, batches: int) -> None:
        """Begins the next epoch of such a loader now, if the present one is known to end within so
        many batches, and the next one not."""
        end_iterator(self._batches.make_room(batches))

    def variant(
        self, arm: dict[str, Any], changes: Sequence[Callable[[Any], Any]] = ()
    ) -> Optional[ShadowLoader]:
        """The loader of `arm`: with overrides, one with other arguments. `changes`: each gives a
        dataset that stands for the one before.

        Raises what the constructor of DataLoader raises, FilledDatasets.of(), `changes`.
        """
        texts = arm.get("overrides") or {}
        if arm.get("kind") != "live" or not texts:
            return self.shadow
        key = json.dumps(texts, sort_keys=True)
        if key not in self._variants:
            overrides = {path: json.loads(text) for path, text in texts.items()}
            dataset = self._filled.of(overrides.pop(CACHE, None), overrides.pop(READ_CACHE, None))
            overrides.pop(ON_DEVICE, None)
            for change in changes:
                dataset = change(dataset)
                if isinstance(dataset, ThreadedReads):
                    self._threaded.append(dataset)
            self._variants[key] = ShadowLoader(self.own, overrides, dataset)
        return self._variants[key]

    def cpu_seconds(self) -> float:
        """CPU time of this process and of all its children so far."""
        own = sum(os.times()[:4])  # With that of children that have ended.
        processes = {pid for shadow in self._shadows() for pid in shadow.pids()}
        return own + sum(map(facts.cpu_seconds, processes.union(facts.descendants())))

    def close(self) -> None:
        """Ends all workers."""
        for shadow in self._shadows():
            shadow.close()
        self._variants.clear()
        for dataset in self._threaded:
            dataset.close()
        self._threaded.clear()
        self._filled.close()
        end_iterator(self._batches.release())
        if self.nodes is not None:
            self.nodes.close()

    def forget_queues(self) -> None:
        """The chain has other stages from now on."""
        for shadow in self._shadows():
            shadow.forget()

    def _shadows(self) -> list[ShadowLoader]:
        return [s for s in (self.shadow, *self._variants.values()) if s is not None]

    def look_inside(self, plan: tuple[str, ...], samples: int) -> dict[str, Any]:
        """What a worker finds that the dataset's own code calls: as _inside.look_inside().

        `plan`: names of the stages that are known. Profiles about `samples` samples.
        """
        assert self.shadow is not None
        batches = -(-samples // self.batch_size)
        found: list[dict[str, Any]] = self._ask_workers(
            self.shadow, INSIDE, plan, lambda: [self._draw() for _ in range(batches)]
        )
        return found[0]

    def _count(self, batch: Any) -> str:
        """Sets batch_size by `batch`. Returns how, in words."""
        given = self.samples_per_batch
        self.batch_size = given or trees.count_samples(batch) or 1
        by = "as given" if given else "the rows of its first tensor (see --samples-per-batch)"
        return f"a batch counts as {self.batch_size} samples: {by}"

    def _probe(self, shadow: ShadowLoader) -> tuple[dict[str, Any], list[str]]:
        """Asks a worker what is called for a sample, then makes one batch to learn its size.
        Returns the answer, and notes."""
        every = max(1, shadow.workers)
        answers: list[dict[str, Any]] = self._ask_workers(shadow, PROBE, (), self._draw, every)
        found = answers[0]
        began = time.monotonic()
        [batch] = self._ask_workers(shadow, LIVE, (), self._draw)
        seconds = time.monotonic() - began
        notes = shared_streams(
            {answer["worker"]: answer["stream"] for answer in answers}, self.workers
        )
        if self.samples_per_batch or self.own.batch_sampler is None:
            notes.append(self._count(batch))
        else:
            self.batch_size = self.order.drawn // 2 if self.order else self.own.batch_size
        self.found = WorkerFindings(self.workers, int(found["threads"]), found["dask_threads"])
        self.found.note_batch(batch, self.batch_size)
        if worth_counting(seconds, self.workers):
            self.found.faults = count_page_faults(
                lambda: self._ask_workers(shadow, LIVE, (), self._draw, every),
                shadow.area.pids(), every * self.batch_size, every * self.found.batch_bytes,
            )  # fmt: skip
        return found, [*notes, *self.found.notes()]

    def _draw(self) -> Any:
        return self.order.draw() if self.order else None

    def _ask_workers(
        self, shadow: ShadowLoader, mode: int, plan: tuple[str, ...], pick: Callable[[], Any],
        asked: int = 1,
    ) -> list[Any]:  # fmt: skip
        """What the first `asked` workers that deliver answer to one task. `pick` gives its indices.

        To probe, all are asked: those of some data sets wait for each other before they read.
        Raises LoaderGone if none answers.
        """
        block, picked = self.next_block(), pick()

        def make(number: int) -> Task:
            return Task(number, block, mode, 0, 0, picked, plan, False, 0, 0)

        try:
            with Patience(PROBE_SECONDS, shadow):
                shadow.begin_some(block, asked, make)
                return [shadow.receive() for _ in range(asked)]
        finally:
            shadow.end()
