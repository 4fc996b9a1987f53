"""The worker's side of a block: makes, caches and serves batches, one task at a time.

Lives in a worker process (or in the training process without workers). Its caches are plain
objects of this process. Not thread safe; a worker has one thread that loads.
"""

from __future__ import annotations

import gc
import os
from time import perf_counter, thread_time
from typing import Any, Callable, Optional, Union

from .._chain import facts, trees
from .._chain.slots import Slot
from .._chain.sources import IndexedSource, IterableSource, NothingDelivered
from .cached_batch import CachedBatch
from .exact import ExactDraws, live_samples, replayed_samples
from .inside import look_inside
from .probe import planned_slots, probe
from .recording import call_directly, record
from .sample_timer import SampleTimer
from .tape import Copies, Tape, answer_from, replay
from .tasks import BYPASS, FILL, INSIDE, PROBE, REPLAY, Empty, SharedArea, Stale, Task


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
        self._copies = Copies()
        self._copy_samples = False
        self._cache: list[CachedBatch] = []
        self._fill = -1
        self._timer = SampleTimer(area, worker)
        self._in_worker = in_worker
        self._frozen = True
        area.start_worker(worker, os.getpid())

    def fetch(self, task: Task) -> Any:
        """The samples for `task`, before collate; Stale, Empty or the finished answer."""
        if not self._area.is_current(task):
            return Stale()
        if task.plan != self._plan:
            self._adopt(task.plan)
        if task.mode == FILL:
            self._frozen = False
        elif not self._frozen and self._in_worker:
            gc.freeze()  # Or the collector would walk the caches in the middle of blocks.
            self._frozen = True
        try:
            if task.mode == PROBE:
                found = probe(self._dataset, self._source.makers(task.indices))
                return {**found, "threads": facts.worker_threads()}
            if task.mode == INSIDE:
                return self._look_inside(task)
            if task.mode == FILL:
                return self._record(task)
            if task.mode in (REPLAY, BYPASS) and not self._cache:
                return Empty()
            if task.mode == REPLAY:
                return self._replay(task)
            if task.mode == BYPASS:
                return self._bypass(task)
            return self._live(task)
        except NothingDelivered:
            self._area.note_empty(self._worker)
            return Empty()

    def collate(self, task: Task, samples: Any, collate_fn: Callable[[Any], Any]) -> Any:
        """The batch for `task`. Called with what fetch() returned."""
        try:
            if task.mode in (PROBE, INSIDE) or isinstance(samples, (Stale, Empty)):
                return samples
            if task.mode in (REPLAY, BYPASS) and task.level == self._after_collate():
                held = self._cached(task)
                return trees.clone_as_allocated(held.batch, held.shared)
            if task.exact is not None:
                self._draw_exactly(task, task.exact)
            if task.mode == FILL:
                return self._collate_and_keep(task, samples, collate_fn)
            if not task.observed:
                return collate_fn(samples)
            began, cpu = perf_counter(), thread_time()
            batch = collate_fn(samples)
            count = self._samples_of(task)
            spent = thread_time() - cpu
            self._timer.add_collate(count, perf_counter() - began, spent)
            return batch
        finally:
            self._area.finish(self._worker, task.number)

    def _draw_exactly(self, task: Task, seed: int) -> None:
        served = task.mode == REPLAY
        keys = self._cached(task).keys if served else self._source.keys(task.indices)
        ExactDraws(seed).begin_collate(keys)

    @property
    def _members(self) -> list[Slot]:
        return self._timer.members

    def _after_collate(self) -> int:
        return len(self._members) + 2

    def _samples_of(self, task: Task) -> int:
        if task.mode == REPLAY:
            return self._cached(task).count
        return self._source.count(task.indices)

    def _cached(self, task: Task) -> CachedBatch:
        count = min(len(self._cache), task.limit) if task.limit > 0 else len(self._cache)
        return self._cache[task.position % count]

    # Live

    def _live(self, task: Task) -> Any:
        count = self._source.count(task.indices)
        makers = self._source.makers(task.indices)
        if task.exact is not None:
            keyed = list(zip(self._source.keys(task.indices), makers))
            return self._source.joined(live_samples(ExactDraws(task.exact), keyed, self._members))
        timer = self._timer
        timed = timer.choose(count, len(makers)) if task.observed else -1
        watched = timer.samples_are_slow
        if timed < 0 and not watched:
            began, cpu = perf_counter(), thread_time()
            samples = self._source.batch(task.indices)
            if task.observed and not self._members:
                timer.add_batch(count, perf_counter() - began, thread_time() - cpu)
            elif task.observed:
                timer.count_untimed(count)
            return samples
        samples, each = [], count // max(1, len(makers))
        for number, make in enumerate(makers):
            samples.append(timer.live(make, count, each) if number == timed else make())
            if watched and not self._area.is_current(task):
                return Stale()
        if timed < 0 and task.observed:
            timer.count_untimed(count)
        return self._source.joined(samples)

    # Cached

    def _replay(self, task: Task) -> Any:
        held = self._cached(task)
        if task.level >= len(self._members) + 1:
            return self._served(held.samples)
        samples = []
        first_live = task.level - 1
        if task.exact is not None:
            keyed = list(zip(held.keys, held.tapes))
            samples = replayed_samples(ExactDraws(task.exact), keyed, first_live, self._copies)
            return self._served(self._source.joined(samples))
        timer = self._timer
        timed = timer.choose(held.count, len(held.tapes)) if task.observed else -1
        watched = timer.samples_are_slow
        for number, tape in enumerate(held.tapes):
            if number == timed:
                samples.append(timer.replay(tape, first_live, self._copies, held))
            else:
                samples.append(replay(tape, first_live, self._copies))
            if watched and not self._area.is_current(task):
                return Stale()
        if task.observed and timed < 0:
            timer.count_untimed(held.count, first_live + 1)
        return self._served(self._source.joined(samples))

    def _served(self, samples: Any) -> Any:
        return trees.clone(samples) if self._copy_samples else samples

    def _bypass(self, task: Task) -> Any:
        """Level 1 skips the dataset's own code, level 1 + i member i; collate() does the rest."""
        if task.level == self._after_collate():
            return self._live(task)
        if task.level == 1:
            return self._replay(task)
        member = task.level - 2
        tapes = self._cached(task).tapes
        slot = self._members[member]
        makers = self._source.makers(task.indices)
        made = [answer_from(tapes, member, slot, self._copies, make) for make in makers]
        return self._served(self._source.joined(made))

    # Filling

    def _record(self, task: Task) -> Any:
        if task.fill != self._fill:
            self._fill = task.fill
            self._cache.clear()
            self._area.start_sizes(self._worker)
        held = CachedBatch(self._source.count(task.indices), self._source.keys(task.indices))
        for key, make in zip(held.keys, self._source.makers(task.indices)):
            held.tapes.append(self._recorded(make, key, task.exact))
            if not self._area.is_current(task):
                return Stale()
        held.samples = self._source.joined([tape.sample for tape in held.tapes])
        self._cache.append(held)
        return held.samples

    def _recorded(self, make: Callable[[], Any], key: str, exact: Optional[int]) -> Tape:
        draws = ExactDraws(exact) if exact is not None else None
        while True:
            known = len(self._copies)
            if draws is not None:
                draws.begin_sample(key)
            run = draws.call if draws is not None else call_directly
            tape = record(self._members, make, self._copies, run)
            if len(self._copies) == known:
                return tape

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
        self._area.note_copies(self._worker, len(self._copies) + self._copy_samples)
        self._area.add_sizes(self._worker, held.count, held.sizes(len(self._members)))
        return batch

    # Probing

    def _adopt(self, plan: tuple[str, ...]) -> None:
        self._plan = plan
        self._timer.members = planned_slots(self._dataset, plan)
        self._copies = Copies()
        self._cache.clear()
        self._fill = -1

    def _look_inside(self, task: Task) -> Any:
        makers = [make for picked in task.indices for make in self._source.makers(picked)]
        return look_inside(self._dataset, makers, self._members)
