"""Tasks that the end of their block interrupted: the arm's next block goes on with them.

A worker stops after the sample in work. What that took after the end of the block, and what a batch
took that could not be interrupted, is waited for when the arm goes on: no arm gets work for free.
"""

from __future__ import annotations

import time
from typing import Any, Callable, NamedTuple, Optional, Union

from .cached_batch import CachedBatch
from .sample_timer import SampleTimer
from .tasks import SharedArea, Stale, Task

_LOOK_SECONDS = 2e-3
"""A worker that waits sees within this time that the block has ended."""


class Parked(NamedTuple):
    """`samples` that are made; `held`: what they are replayed from. `counted`: the counters of the
    stages know the batch."""

    samples: list[Any]
    held: Optional[CachedBatch] = None
    counted: bool = False


class Parking:
    """The interrupted tasks of one worker. Not thread safe."""

    def __init__(self, area: SharedArea, timer: SampleTimer) -> None:
        self._area = area
        self._timer = timer
        self._parked: dict[int, Parked] = {}
        self._late: dict[int, float] = {}
        """Seconds of work after the end of a block, by ticket."""

    def go_on(
        self,
        task: Task,
        parked: Parked,
        parts: list[Any],
        timed: int,
        run_timed: Callable[[Any], Any],
        run: Callable[[Any], Any],
    ) -> Union[Parked, Stale]:
        """What is made once all `parts` of the batch have run. Stops between two of them if the
        block is over. `timed`: which part runs with times; -1: none."""
        samples, held, counted = parked
        watched = self._timer.samples_are_slow
        for number, part in enumerate(parts[len(samples) :], len(samples)):
            samples.append(run_timed(part) if number == timed else run(part))
            counted |= number == timed
            if watched and not self._area.is_current(task):
                if task.ticket:
                    self._parked[task.ticket] = Parked(samples, held, counted)
                    self.note_late(task)
                return Stale()
        return Parked(samples, held, counted)

    def resumed(self, task: Task) -> Parked:
        """What is made of a task; nothing of one that has not begun."""
        return self._parked.pop(task.ticket, None) or Parked([])

    def note_late(self, task: Task) -> None:
        """The worker returns from `task`, if its block is over later than it should."""
        if task.ticket and not self._area.is_current(task):
            late = max(0.0, time.monotonic() - self._area.ended_at)
            self._late[task.ticket] = self._late.get(task.ticket, 0.0) + late

    def catch_up(self, task: Task) -> bool:
        """Waits for what the task is ahead of its arm's clock. False if its block is over."""
        if not self._area.is_current(task):
            return False
        ahead = self._late.pop(task.ticket, 0.0) if task.ticket else 0.0
        if ahead <= 0:
            return True
        until = time.monotonic() + ahead
        while self._area.is_current(task):
            left = until - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(left, _LOOK_SECONDS))
        self._late[task.ticket] = max(0.0, until - self._area.ended_at)
        return False


def call(make: Callable[[], Any]) -> Any:
    """A part that is not timed."""
    return make()
