"""Times the stages of one sample in many, so that the timing itself takes next to nothing."""

from __future__ import annotations

import random
from functools import partial
from time import perf_counter, thread_time
from typing import Any, Callable

from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .cached_batch import CachedBatch
from .tape import Copies, StageTimes, Tape, replay_with, timed, timed_outside, timed_run
from .tasks import SharedArea

_SLOW_SAMPLE_SECONDS = 50e-6
_TIMING_SHARE = 0.002
_TIMING_SECONDS = 6e-6


class SampleTimer:
    """The sample timer of one worker. Sums go to `area`; stage 0 is the dataset's own code. Not
    thread safe."""

    def __init__(self, area: SharedArea, worker: int) -> None:
        self._area = area
        self._worker = worker
        self._random = random.Random(worker)
        self._until_timed = 0
        self.members: list[Slot] = []
        self.sample_seconds = 0.0
        """What the newest timed sample took."""

    @property
    def samples_are_slow(self) -> bool:
        """True if looking at shared memory for each sample is next to nothing."""
        return self.sample_seconds > _SLOW_SAMPLE_SECONDS

    def add_batch(self, count: int, busy: float, cpu: float) -> None:
        """`count` samples without members took so long together."""
        self._area.add(self._worker, 0, count, count, busy, cpu)
        self.sample_seconds = busy / max(1, count)

    def collated(self, collate_fn: Callable[[Any], Any], samples: Any, count: int) -> Any:
        """What `collate_fn` makes of `samples`, which are `count`."""
        cpu, began = thread_time(), perf_counter()
        batch = collate_fn(samples)
        busy, spent = perf_counter() - began, thread_time() - cpu
        self._area.add(self._worker, len(self.members) + 1, count, count, busy, spent)
        return batch

    def count_untimed(self, count: int, first: int = 0) -> None:
        """`count` samples went through the stages from `first` on, none of them timed."""
        for stage in range(first, len(self.members) + 1):
            self._area.add(self._worker, stage, count, 0, 0.0, 0.0)

    def choose(self, count: int, parts: int) -> int:
        """Which of the `parts` that make `count` samples is timed, by stage; -1: none."""
        self._until_timed -= count
        if self._until_timed > 0:
            return -1
        if self.sample_seconds > 0:
            every = _TIMING_SECONDS * (1 + len(self.members)) / _TIMING_SHARE
            self._until_timed = int(every / self.sample_seconds)
        return self._random.randrange(parts) if parts else -1

    def live(self, make: Callable[[], Any], count: int, samples: int) -> Any:
        """What `make` makes: `samples` of the `count` samples of a batch."""
        times = self._no_times()

        def timer(stage: int, original: Any) -> Callable[..., Any]:
            return lambda *args, **kwargs: timed(times, stage, original, args, kwargs)

        with Installed(self.members, timer, partial(timed_outside, times)):
            cpu, began = thread_time(), perf_counter()
            sample = make()
            busy, spent = perf_counter() - began, thread_time() - cpu
        busy -= times.reading
        self.sample_seconds = busy / max(1, samples)
        own = max(0.0, busy - sum(times.busy)), max(0.0, spent - sum(times.cpu))
        self._area.add(self._worker, 0, count, samples, *own)
        self._add(times, 0, count, samples)
        return sample

    def replay(self, tape: Tape, first_live: int, copies: Copies, held: CachedBatch) -> Any:
        """Replays a tape of `held`; members from `first_live` on are live."""
        times = self._no_times()
        sample = replay_with(tape, first_live, copies, timed_run(times))
        self._add(times, first_live, held.count, held.samples_per_tape)
        return sample

    def _no_times(self) -> StageTimes:
        stages = len(self.members)
        return StageTimes([0.0] * stages, [0.0] * stages)

    def _add(self, times: StageTimes, first: int, count: int, samples: int) -> None:
        for stage in range(first, len(self.members)):
            busy, cpu = times.busy[stage], times.cpu[stage]
            self._area.add(self._worker, stage + 1, count, samples, busy, cpu)
