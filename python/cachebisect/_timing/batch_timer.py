"""Divides the time of each training batch into load, forward, backward, optimizer and other.

A batch begins when the loader is asked for it and ends when the loader is asked for the next one.
What the loader gives without a backward pass in between (validation) is no training batch, and is
left out; so are the first batches, in which libraries choose their algorithms. An optimizer may run
forward and backward pass inside its step, by a closure, as Lightning's loop does: they are no time
of the optimizer.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple, Optional

from .marks import Marks

PARTS = ("load", "forward", "backward", "optimizer")
UNTIMED_BATCHES = 3


class Row(NamedTuple):
    """One batch. Seconds; other is what is left of total."""

    epoch: int
    samples: int
    load: float
    forward: float
    backward: float
    optimizer: float
    total: float
    wait: float
    """How long the training thread waited for the loader; on a GPU, also while the GPU was busy."""


class _Batch:
    """A batch whose marks may not have happened yet."""

    __slots__ = ("began_at", "begin", "end", "epoch", "intervals", "samples", "trained", "wait")

    def __init__(self, begin: Any, epoch: int) -> None:
        self.begin = begin
        self.began_at = time.time_ns()
        self.end: Any = None
        self.epoch = epoch
        self.samples = 0
        self.trained = False
        self.wait = 0.0
        self.intervals: list[tuple[str, Any, Any]] = []

    def used_marks(self) -> list[Any]:
        """Each once, without the end, at which the next batch begins."""
        marks = [self.begin, *(mark for _, *ends in self.intervals for mark in ends)]
        return list({id(mark): mark for mark in marks if mark is not self.end}.values())


class BatchTimer:
    """Told what the training thread does. Not thread safe."""

    def __init__(self, marks: Marks, untimed: int = UNTIMED_BATCHES) -> None:
        self.rows: list[Row] = []
        self.epochs = 0
        """Epochs of training batches that have ended."""
        self.window: Optional[tuple[int, int]] = None
        """From the begin of the first timed batch to the end of the last one, in the training
        thread: nanoseconds of the system clock."""
        self._marks = marks
        self._untimed = untimed
        self._batch: Optional[_Batch] = None
        self._part: Optional[tuple[str, Any]] = None
        self._steps = False  # Inside the optimizer's step.
        self._asked = 0.0
        self._closed: deque[_Batch] = deque()

    @property
    def batches(self) -> int:
        """Timed so far, whether they are done or not."""
        return len(self.rows) + len(self._closed)

    def load_begun(self) -> None:
        """The loader is asked for a batch, or for an iterator."""
        now = self._marks.mark()
        self._asked = time.perf_counter()
        self._steps = False
        self._end_part(now)
        batch = self._batch
        # Several loaders may be read before one step: that is all loading.
        if batch is None or any(part != "load" for part, _, _ in batch.intervals):
            self._close(now)
            self._batch = _Batch(now, self.epochs)
        self._part = ("load", now)

    def load_ended(self, samples: Optional[int]) -> None:
        """It has given a batch of so many samples; None: an iterator, or nothing."""
        self._end_part(self._marks.mark())
        if self._batch is not None:
            self._batch.wait += time.perf_counter() - self._asked
            self._batch.samples = samples or self._batch.samples

    def epoch_ended(self, trained: bool) -> None:
        """The loader has no more batches. `trained`: it gave training batches."""
        self._part = None
        self._batch = None
        if trained:
            self.epochs += 1

    def forward_begun(self) -> None:
        """An outermost module is called. The forward pass lasts until the backward pass begins."""
        if self._batch is not None and (self._part is None or self._part[0] == "optimizer"):
            self._change_part("forward")

    def backward_begun(self) -> bool:
        """False if it lies within another part, and its end must not be told."""
        batch = self._batch
        if batch is None or (self._part is not None and self._part[0] in ("load", "backward")):
            return False
        self._change_part("backward")
        batch.trained = True
        return True

    def backward_ended(self) -> None:
        """The rest of an optimizer's step is the optimizer's."""
        self._change_part("optimizer" if self._steps else None)

    def optimizer_begun(self) -> bool:
        """As backward_begun()."""
        if self._batch is None or (self._part is not None and self._part[0] != "forward"):
            return False
        self._change_part("optimizer")
        self._steps = True
        return True

    def optimizer_ended(self) -> None:
        """Its step, with all that ran inside."""
        self._steps = False
        self._change_part(None)

    @property
    def trained(self) -> bool:
        """A backward pass has run since the loader was asked."""
        return self._batch is not None and self._batch.trained

    def finish(self) -> None:
        """Waits until all batches are done. The one that is under way is left out."""
        self._marks.finish()
        self._collect()

    def _change_part(self, part: Optional[str]) -> None:
        now = self._marks.mark()
        self._end_part(now)
        self._part = (part, now) if part is not None else None

    def _end_part(self, now: Any) -> None:
        part, self._part = self._part, None
        if part is not None and self._batch is not None:
            self._batch.intervals.append((part[0], part[1], now))

    def _close(self, now: Any) -> None:
        batch = self._batch
        if batch is None or not batch.trained:
            return
        if self._untimed > 0:
            self._untimed -= 1
            return
        batch.end = now
        first = batch.began_at if self.window is None else self.window[0]
        self.window = (first, time.time_ns())
        self._closed.append(batch)
        self._collect()

    def _collect(self) -> None:
        while self._closed and self._marks.happened(self._closed[0].end):
            batch = self._closed.popleft()
            self.rows.append(self._row(batch))
            self._marks.reuse(batch.used_marks())

    def _row(self, batch: _Batch) -> Row:
        seconds = dict.fromkeys(PARTS, 0.0)
        for part, begin, end in batch.intervals:
            seconds[part] += self._marks.seconds(begin, end)
        total = self._marks.seconds(batch.begin, batch.end)
        return Row(batch.epoch, batch.samples, **seconds, total=total, wait=batch.wait)
