"""The worker's side of a block: makes, caches and serves batches, one task at a time.

Lives in a worker process (or in the training process without workers). Its caches are plain
objects of this process. Not thread safe; a worker has one thread that loads.
"""

from __future__ import annotations

import gc
import os
import random
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any, Callable, Optional, Union

from . import _tape, _trees
from ._exact import ExactDraws, live_samples
from ._inside import look_inside
from ._probe import planned_slots, probe
from ._recording import call_directly, record
from ._slots import Slot
from ._sources import IndexedSource, IterableSource, NothingDelivered
from ._stand_ins import Installed
from ._tape import Copies, StageTimes, Tape
from ._tasks import BYPASS, FILL, INSIDE, PROBE, REPLAY, Empty, SharedArea, Stale, Task

_SLOW_SAMPLE_SECONDS = 50e-6
_TIMING_SHARE = 0.002
_TIMING_SECONDS = 6e-6


@dataclass
class CachedBatch:
    """One batch at every level of this worker. One tape per sample, or one of all if the dataset
    reads whole batches."""

    count: int
    keys: list[str]
    tapes: list[Tape] = field(default_factory=list)
    samples: Any = None
    batch: Any = None


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
        self._slots: list[Slot] = []
        self._plan: tuple[str, ...] = ()
        self._members: list[Slot] = []
        self._copies = Copies()
        self._copy_samples = False
        self._cache: list[CachedBatch] = []
        self._fill = -1
        self._sample_seconds = 0.0
        self._until_timed = 0
        self._random = random.Random(worker)
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
                return self._probe(task)
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
                return _trees.clone_as_allocated(self._cached(task).batch)
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
            stage = len(self._members) + 1
            self._area.add(self._worker, stage, count, count, perf_counter() - began, spent)
            return batch
        finally:
            self._area.finish(self._worker, task.number)

    def _draw_exactly(self, task: Task, seed: int) -> None:
        served = task.mode == REPLAY
        keys = self._cached(task).keys if served else self._source.keys(task.indices)
        ExactDraws(seed).begin_collate(keys)

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
        timed = self._choose_timed(count, len(makers)) if task.observed else -1
        watched = self._sample_seconds > _SLOW_SAMPLE_SECONDS
        if timed < 0 and not watched:
            began, cpu = perf_counter(), thread_time()
            samples = self._source.batch(task.indices)
            if task.observed and not self._members:
                busy, spent = perf_counter() - began, thread_time() - cpu
                self._area.add(self._worker, 0, count, count, busy, spent)
                self._sample_seconds = busy / max(1, count)
            elif task.observed:
                self._count_untimed(count)
            return samples
        samples = []
        for number, make in enumerate(makers):
            samples.append(
                self._timed_sample(make, count, count // len(makers)) if number == timed else make()
            )
            if watched and not self._area.is_current(task):
                return Stale()
        if timed < 0 and task.observed:
            self._count_untimed(count)
        return self._source.joined(samples)

    def _count_untimed(self, count: int) -> None:
        for stage in range(len(self._members) + 1):
            self._area.add(self._worker, stage, count, 0, 0.0, 0.0)

    def _choose_timed(self, count: int, parts: int) -> int:
        """Which of the `parts` that make `count` samples is timed, by stage; -1: none."""
        self._until_timed -= count
        if self._until_timed > 0:
            return -1
        if self._sample_seconds > 0:
            every = _TIMING_SECONDS * (1 + len(self._members)) / _TIMING_SHARE
            self._until_timed = int(every / self._sample_seconds)
        return self._random.randrange(parts) if parts else -1

    def _timed_sample(self, make: Callable[[], Any], count: int, timed: int) -> Any:
        """What `make` makes: `timed` of the `count` samples of a batch."""
        stages = len(self._members)
        times = StageTimes([0.0] * stages, [0.0] * stages)

        def timer(stage: int, original: Any) -> Callable[..., Any]:
            return lambda *args, **kwargs: _tape.timed(times, stage, original, args, kwargs)

        with Installed(self._members, timer):
            began, cpu = perf_counter(), thread_time()
            sample = make()
            busy, spent = perf_counter() - began, thread_time() - cpu
        self._sample_seconds = busy / max(1, timed)
        own = max(0.0, busy - sum(times.busy)), max(0.0, spent - sum(times.cpu))
        self._area.add(self._worker, 0, count, timed, *own)
        for stage in range(stages):
            seconds = times.busy[stage], times.cpu[stage]
            self._area.add(self._worker, stage + 1, count, timed, *seconds)
        return sample

    # Cached

    def _replay(self, task: Task) -> Any:
        held = self._cached(task)
        if task.level >= len(self._members) + 1:
            return self._served(held.samples)
        samples = []
        first_live = task.level - 1
        if task.exact is not None:
            return self._replay_exactly(held, first_live, ExactDraws(task.exact))
        watched = self._sample_seconds > _SLOW_SAMPLE_SECONDS
        timed = self._choose_timed(held.count, len(held.tapes)) if task.observed else -1
        for number, tape in enumerate(held.tapes):
            if number == timed:
                samples.append(self._timed_replay(tape, first_live, held))
            else:
                samples.append(_tape.replay(tape, first_live, self._copies))
            if watched and not self._area.is_current(task):
                return Stale()
        if task.observed and timed < 0:
            for stage in range(first_live, len(self._members)):
                self._area.add(self._worker, stage + 1, held.count, 0, 0.0, 0.0)
        return self._served(self._source.joined(samples))

    def _replay_exactly(self, held: CachedBatch, first_live: int, draws: ExactDraws) -> Any:
        samples = []
        for key, tape in zip(held.keys, held.tapes):
            draws.begin_sample(key)
            samples.append(_tape.replay_with(tape, first_live, self._copies, draws.run))
        return self._served(self._source.joined(samples))

    def _timed_replay(self, tape: Tape, first_live: int, held: CachedBatch) -> Any:
        stages = len(self._members)
        times = StageTimes([0.0] * stages, [0.0] * stages)
        sample = _tape.replay_with(tape, first_live, self._copies, _tape.timed_run(times))
        for stage in range(first_live, stages):
            seconds = times.busy[stage], times.cpu[stage]
            timed = held.count // len(held.tapes)
            self._area.add(self._worker, stage + 1, held.count, timed, *seconds)
        return sample

    def _served(self, samples: Any) -> Any:
        return _trees.clone(samples) if self._copy_samples else samples

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
        made = [_tape.answer_from(tapes, member, slot, self._copies, make) for make in makers]
        return self._source.joined(made)

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
        before = _trees.digest(samples)
        batch = collate_fn(self._served(samples))
        if _trees.digest(samples) != before:
            self._copy_samples = True
            self._cache.pop()
            again = self._record(task)
            return (
                again
                if isinstance(again, Stale)
                else self._collate_and_keep(task, again, collate_fn)
            )
        held = self._cache[-1]
        held.batch = _trees.clone_as_allocated(batch)
        self._area.note_copies(self._worker, len(self._copies) + self._copy_samples)
        self._note_sizes(held)
        return batch

    def _note_sizes(self, held: CachedBatch) -> None:
        sizes = [0] * (len(self._members) + 3)
        for tape in held.tapes:
            for call in tape.calls:
                sizes[1] += _trees.nbytes((call.args, call.kwargs))
                sizes[call.stage + 1] += _trees.nbytes(call.output)
        sizes[len(self._members) + 1] = _trees.nbytes(held.samples)
        sizes[-1] = _trees.nbytes(held.batch)
        self._area.add_sizes(self._worker, held.count, sizes)

    # Probing

    def _adopt(self, plan: tuple[str, ...]) -> None:
        self._plan = plan
        self._members = planned_slots(self._dataset, plan)
        self._copies = Copies()
        self._cache.clear()
        self._fill = -1

    def _probe(self, task: Task) -> Any:
        return probe(self._dataset, self._source.makers(task.indices))

    def _look_inside(self, task: Task) -> Any:
        makers = [make for picked in task.indices for make in self._source.makers(picked)]
        return look_inside(self._dataset, makers, self._members)
