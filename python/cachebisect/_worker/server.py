"""The worker's side of a block: makes, caches and serves batches, one task at a time.

Lives in a worker process (or in the training process without workers). Its caches are plain
objects of this process. Not thread safe; a worker has one thread that loads.
"""

from __future__ import annotations

import gc
import os
from time import perf_counter, thread_time
from typing import Any, Callable, Union

from .._chain import trees
from .._chain.slots import Slot
from .._chain.sources import IndexedSource, IterableSource, NothingDelivered
from . import tasks
from .answers import ANSWERS, answer
from .batch_maker import BatchMaker
from .cached_batch import CachedBatch
from .parking import Parking, call
from .probe import planned_slots
from .sample_timer import SampleTimer
from .tape import replay
from .tasks import Empty, Prepared, SharedArea, Stale, Task, after_collate
from .unseen import UnseenBatches


class Server:
    """Serves the tasks of one worker."""

    def __init__(
        self,
        dataset: Any,
        source: Union[IndexedSource, IterableSource],
        area: SharedArea,
        worker: int,
        in_worker: bool,
    ) -> None:
        self._source = source
        self._area = area
        self._worker = worker
        self._dataset = dataset
        self._plan: tuple[str, ...] = ()
        self._copy_samples = False
        self._cache: list[CachedBatch] = []
        self._fill = -1
        self._unseen = UnseenBatches()
        self._timer = SampleTimer(area, worker)
        self._parking = Parking(area, self._timer)
        self._maker = BatchMaker(source, area, [])
        self._in_worker = in_worker
        self._frozen = True
        area.start_worker(worker, os.getpid())

    def fetch(self, task: Task) -> Any:
        """The samples for `task`, before collate; Stale, Empty or the finished answer."""
        if not self._parking.catch_up(task) or task.mode == tasks.HELD:
            return Stale()
        if task.plan != self._plan:
            self._adopt(task.plan)
        if task.mode in (tasks.FILL, tasks.PREPARE):
            self._frozen = False
        elif not self._frozen and self._in_worker:
            gc.freeze()  # Or the collector would walk the caches in the middle of blocks.
            self._frozen = True
        try:
            if task.mode in ANSWERS:
                known = self._dataset, self._source, self._members, self._area, self._worker
                return answer(task, *known)
            if task.mode == tasks.FILL:
                return self._record(task)
            if self._is_spent(task):
                self._area.note_spent(self._worker, task.block)
                return Empty()
            if task.mode == tasks.PREPARE:
                return self._prepare(task)
            if task.mode in (tasks.REPLAY, tasks.UNSEEN):
                return self._replay(task)
            if task.mode == tasks.BYPASS:
                return self._bypass(task)
            return self._live(task)
        except NothingDelivered:
            self._area.note_empty(self._worker)
            return Empty()

    def collate(self, task: Task, samples: Any, collate_fn: Callable[[Any], Any]) -> Any:
        """The batch for `task`. Called with what fetch() returned."""
        try:
            if task.mode in ANSWERS or isinstance(samples, (Stale, Empty, Prepared)):
                return samples
            if task.mode in (tasks.REPLAY, tasks.BYPASS) and task.level == after_collate(
                self._members
            ):
                held = self._cached(task)
                return trees.clone_as_allocated(held.batch, held.shared)
            if task.mode == tasks.FILL:
                return self._collate_and_keep(task, samples, collate_fn)
            if not task.observed:
                return collate_fn(samples)
            return self._timer.collated(collate_fn, samples, self._samples_of(task))
        finally:
            if not isinstance(samples, Stale):
                self._parking.note_late(task)
            self._area.finish(self._worker, task.number)

    def _is_spent(self, task: Task) -> bool:
        """True if nothing is kept that `task` serves. Else an UNSEEN task has gone on to it."""
        if task.mode == tasks.UNSEEN:
            return not self._unseen.next()
        return task.mode in (tasks.REPLAY, tasks.BYPASS, tasks.PREPARE) and not self._cache

    @property
    def _members(self) -> list[Slot]:
        return self._timer.members

    def _samples_of(self, task: Task) -> int:
        served = task.mode in (tasks.REPLAY, tasks.UNSEEN)
        return self._cached(task).count if served else self._source.count(task.indices)

    def _cached(self, task: Task) -> CachedBatch:
        if task.mode == tasks.UNSEEN:
            return self._unseen.current
        count = min(len(self._cache), task.limit) if task.limit > 0 else len(self._cache)
        return self._cache[task.position % count]

    # Live

    def _live(self, task: Task) -> Any:
        count = self._source.count(task.indices)
        makers = self._source.makers(task.indices)
        timer = self._timer
        parked = self._parking.resumed(task)
        fresh = not parked.samples
        timed = timer.choose(count, len(makers)) if task.observed and fresh else -1
        if timed < 0 and fresh and not timer.samples_are_slow:
            cpu, began = thread_time(), perf_counter()
            samples = self._source.batch(task.indices)
            if task.observed and not self._members:
                timer.add_batch(count, perf_counter() - began, thread_time() - cpu)
            elif task.observed:
                timer.count_untimed(count)
            return samples
        each = count // max(1, len(makers))
        made = self._parking.go_on(
            task, parked, makers, timed, lambda make: timer.live(make, count, each), call
        )
        if isinstance(made, Stale):
            return made
        if task.observed and not made.counted:
            timer.count_untimed(count)
        return self._source.joined(made.samples)

    # Cached

    def _replay(self, task: Task) -> Any:
        held = self._cached(task)
        if task.level >= len(self._members) + 1:
            return self._served(held.samples)
        first_live = task.level - 1
        timer, copies = self._timer, self._maker.copies
        parked = self._parking.resumed(task)
        held = parked.held or held
        fresh = task.observed and not parked.samples
        timed = timer.choose(held.count, len(held.tapes)) if fresh else -1
        made = self._parking.go_on(
            task, parked._replace(held=held), held.tapes, timed,
            lambda tape: timer.replay(tape, first_live, copies, held),
            lambda tape: replay(tape, first_live, copies),
        )  # fmt: skip
        if isinstance(made, Stale):
            return made
        if task.observed and not made.counted:
            timer.count_untimed(held.count, first_live + 1)
        return self._served(self._source.joined(made.samples))

    def _served(self, samples: Any) -> Any:
        return trees.clone(samples) if self._copy_samples else samples

    def _bypass(self, task: Task) -> Any:
        """Level 1 skips the dataset's own code, level 1 + i member i; collate() does the rest."""
        if task.level == after_collate(self._members):
            return self._live(task)
        if task.level == 1:
            return self._replay(task)
        return self._served(self._maker.bypassed(task, self._cached(task).tapes))

    # Filling

    def _record(self, task: Task) -> Any:
        if task.fill != self._fill:
            self._fill = task.fill
            self._cache.clear()
            self._area.start_sizes(self._worker)
        held = self._maker.recorded(task)
        if isinstance(held, Stale):
            return held
        self._cache.append(held)
        return held.samples

    def _prepare(self, task: Task) -> Union[Prepared, Stale]:
        made = self._maker.prepared(task, self._cache[0].tapes)
        if isinstance(made, Stale):
            return made
        self._unseen.add(made, task.fill)
        return Prepared()

    def _collate_and_keep(self, task: Task, samples: Any, collate_fn: Callable[[Any], Any]) -> Any:
        before = trees.digest(samples)
        batch = collate_fn(self._served(samples))
        if trees.digest(samples) != before:
            self._copy_samples = True
            self._cache.pop()
            again = self._record(task)
            stale = isinstance(again, Stale)
            return again if stale else self._collate_and_keep(task, again, collate_fn)
        held = self._cache[-1]
        held.batch = trees.clone(batch)
        held.shared = trees.in_shared_memory(batch)
        self._area.note_copies(self._worker, len(self._maker.copies) + self._copy_samples)
        self._area.add_sizes(self._worker, held.count, held.sizes(len(self._members)))
        return batch

    # Probing

    def _adopt(self, plan: tuple[str, ...]) -> None:
        self._plan = plan
        self._timer.members = planned_slots(self._dataset, plan)
        self._maker = BatchMaker(self._source, self._area, self._members)
        self._cache.clear()
        self._parking = Parking(self._area, self._timer)
        self._unseen = UnseenBatches()
        self._fill = -1
