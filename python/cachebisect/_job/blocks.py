"""One block: consecutive training steps in one arm, timed as a whole.

The training loop asks for a batch when it has finished the step before. Entry j of the block is
that moment after j steps; the time between entries w and w + N is that of N steps. On CUDA an event
is recorded at each of the two, so that the device's own completion is timed.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Optional

from .._chain import facts
from .._chain.description import Chain
from .._worker.tasks import stage_sums
from .companions import Companions
from .device_marks import DeviceMarks
from .feeds import DroppingFeed, Feed, Waiting
from .shadow import ShadowLoader
from .stage_entries import StageEntries
from .step_profile import StepProfile


class Usage:
    """Counters at one moment: CPU seconds, the waiting of the training thread, those of stages."""

    def __init__(
        self,
        feed: Feed,
        shadow: Optional[ShadowLoader],
        sampler_seconds: float,
        companion_seconds: list[float],
        processes: list[int],
    ) -> None:
        waiting = feed.waiting
        self.time = time.monotonic()
        self.cpu = time.process_time() + sum(map(facts.cpu_seconds, processes))
        self.waiting = Waiting(**vars(waiting))
        self.counters = shadow.area.snapshot() if shadow is not None else []
        self.sampler_seconds = sampler_seconds
        self.companion_seconds = companion_seconds
        self.dropped_seconds = feed.receiving_seconds if isinstance(feed, DroppingFeed) else 0.0


class Block:
    """A block in progress. `request`: a run request of docs/extend/protocol.md.

    `sampler_seconds`: what drawing indices has taken so far. `pin_python_seconds`: of Python in
    pinning one batch.
    """

    def __init__(
        self,
        request: dict[str, Any],
        feed: Feed,
        chain: Chain,
        shadow: Optional[ShadowLoader],
        marks: DeviceMarks,
        sampler_seconds: Callable[[], float],
        pin_python_seconds: float = 0.0,
        companions: Optional[Companions] = None,
    ) -> None:
        settling = request.get("settling_steps")  # With ranks: as many on all of them.
        self._warmup = int(request["warmup_steps"])
        self._warmup += feed.settling_steps if settling is None else int(settling)
        self._steps = max(1, int(request["steps"]))
        self._groups = max(1, int(request.get("groups", 1)))
        self._group_steps = max(1, self._steps // self._groups)
        self._max_seconds = float(request.get("max_seconds", 0))
        self._observed = bool(request["arm"].get("observed", True))
        self._profile = StepProfile() if request.get("profile") else None
        self.is_disturbed = False
        """Set while something other than training steps runs."""
        self.is_void = False
        """The engine repeats the block."""
        self._feed = feed
        self._chain = chain
        self._shadow = shadow
        self._marks = marks
        self._sampler_seconds = sampler_seconds
        self._pin_python_seconds = pin_python_seconds
        self._companions = companions or Companions()
        self.taken = 0
        """Batches served."""
        self._samples: list[int] = []
        self._first_batch_seconds = 0.0
        self._group_marks: list[Any] = []
        self._start: Optional[Usage] = None
        self._start_mark: Any = None
        self._began = 0.0
        self._helpers: list[int] = []
        """Processes that may make batches where there is no shadow loader."""
        self._idle_ends = 0
        """Steps after which the device had nothing left to do."""

    def begin(self, number: int) -> None:
        """Drops what older blocks left and starts. The call itself is not timed."""
        if self._shadow is None:
            # Before the untimed steps: batches are made while the system is asked.
            self._helpers = facts.descendants()
        self._began = time.monotonic()
        self._feed.expect(self._warmup + self._steps)
        self._feed.begin(number)

    def enter(self) -> bool:
        """A step has ended, or the first is about to begin. True if the block is over."""
        done = self.taken - self._warmup
        if done < 0:
            return False
        if done > 0 and self._marks.is_idle():
            self._idle_ends += 1
        if done == 0:
            self._start = self._usage()
            self._start_mark = self._marks.mark()
            self._group_marks = [self._start_mark]
            if self._profile is not None:
                self._profile.start()
            return False
        if done % self._group_steps and done < self._steps:
            return False
        self._group_marks.append(self._marks.mark())
        return self.is_complete()

    def is_complete(self) -> bool:
        """All steps are done, or the time is up after a group of them."""
        done = self.taken - self._warmup
        after_group = done > 0 and done % self._group_steps == 0
        return done >= self._steps or (after_group and self._time_is_up())

    def take(self) -> Any:
        """The batch for the next step. Raises what the loader raises."""
        batch, size = self._feed.take()
        if self.taken == 0:
            self._first_batch_seconds = time.monotonic() - self._began
        self.taken += 1
        if self.taken > self._warmup:
            self._samples.append(size)
        return batch

    def end(self) -> None:
        """Stops loading; the block is over or given up."""
        if self._profile is not None:
            self._profile.stop()
        self._feed.end()

    def result(self) -> dict[str, Any]:
        """The `block` of docs/extend/protocol.md. Called once enter() has returned True."""
        start, now = self._start, self._usage()
        assert start is not None
        elapsed = self._marks.seconds(self._start_mark, self._group_marks[-1])
        reading = self._marks.reading()  # While the clock is still that of the last step.
        self.is_void |= self._feed.is_spoiled()
        dropped = now.dropped_seconds - start.dropped_seconds
        seconds = max(1e-9, elapsed - dropped)
        waiting = self._waiting(start, now)
        steps = len(self._samples)
        starved = min(seconds, waiting.starved) if not dropped else 0.0
        known = self._shadow is not None and self._shadow.knows_what_is_ready
        return {
            "start_seconds": self._began,
            "seconds": seconds,
            "steps": steps,
            "warmup_steps": self._warmup,
            "group_taus": self._group_taus(),
            "samples": sum(self._samples),
            "cpu_seconds": max(0.0, now.cpu - start.cpu),
            "starved_seconds": starved,
            "trainer_seconds": max(0.0, seconds - starved),
            "ready_batches": waiting.ready / waiting.requests
            if known and waiting.requests
            else None,
            "device_idle_share": None
            if self._marks.is_idle() is None
            else self._idle_ends / max(1, steps),
            "device": reading,
            "first_batch_seconds": self._first_batch_seconds,
            "skipped": 0,
            "first_skipped": [],
            "void": self.is_void,
            "stages": self._stages(start, now, waiting) if self._observed else [],
            "step_functions": self._profile.functions() if self._profile is not None else [],
        }

    def _usage(self) -> Usage:
        seconds = self._companions.seconds()
        processes = self._helpers if self._shadow is None else self._shadow.pids()
        return Usage(self._feed, self._shadow, self._sampler_seconds(), seconds, processes)

    def _time_is_up(self) -> bool:
        assert self._start is not None
        return 0 < self._max_seconds <= time.monotonic() - self._start.time

    def _group_taus(self) -> list[float]:
        if self._groups == 1:
            return []
        taus = []
        for group in range(min(self._groups, len(self._group_marks) - 1)):
            at = group * self._group_steps
            samples = sum(self._samples[at : at + self._group_steps])
            begin, end = self._group_marks[group : group + 2]
            taus.append(self._marks.seconds(begin, end) / max(1, samples))
        return taus

    def _waiting(self, start: Usage, now: Usage) -> Waiting:
        before, after = vars(start.waiting), vars(now.waiting)
        return Waiting(**{key: after[key] - before[key] for key in after})

    def _stages(self, start: Usage, now: Usage, waiting: Waiting) -> list[dict[str, Any]]:
        counted = sum(self._chain.counted_stage(i) is not None for i in range(self._chain.last))
        sums = stage_sums(now.counters, start.counters, counted) if self._shadow else []
        entries = StageEntries(
            self._chain,
            waiting,
            len(self._samples),
            sum(self._samples),
            sums,
            now.sampler_seconds - start.sampler_seconds,
            self._pin_python_seconds,
            [b - a for a, b in zip(start.companion_seconds, now.companion_seconds)],
        )
        return entries.all()
