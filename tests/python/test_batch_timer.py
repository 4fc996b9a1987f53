"""How the time of a batch is divided, on a clock that the tests set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

import pytest

from cachebisect._timing.batch_timer import BatchTimer, Row


class SetClock:
    """Marks are numbers; `slow`: they happen only once finish() is called."""

    def __init__(self, slow: bool = False) -> None:
        self.now = 0.0
        self.slow = slow
        self.reused: list[float] = []

    def mark(self) -> float:
        return self.now

    def happened(self, mark: float) -> bool:
        return not self.slow

    def seconds(self, begin: float, end: float) -> float:
        return end - begin

    def reuse(self, marks: Iterable[float]) -> None:
        self.reused.extend(marks)

    def finish(self) -> None:
        self.slow = False


def load(timer: BatchTimer, clock: SetClock, seconds: float, samples: Optional[int] = 4) -> None:
    timer.load_begun()
    clock.now += seconds
    timer.load_ended(samples)


def step(timer: BatchTimer, clock: SetClock) -> None:
    clock.now += 0.5  # to the device
    timer.forward_begun()
    clock.now += 2
    timer.forward_begun()  # another module: the forward pass goes on
    clock.now += 1
    assert timer.backward_begun()
    timer.forward_begun()  # recomputed within the backward pass
    clock.now += 5
    timer.backward_ended()
    clock.now += 0.25
    assert timer.optimizer_begun()
    clock.now += 1
    timer.optimizer_ended()
    clock.now += 0.125


def step_with_closure(timer: BatchTimer, clock: SetClock, calls: int = 1) -> None:
    clock.now += 0.5
    assert timer.optimizer_begun()
    clock.now += 0.25
    for _ in range(calls):
        timer.forward_begun()
        clock.now += 3
        assert timer.backward_begun()
        assert not timer.backward_begun()  # a checkpoint's
        clock.now += 5
        timer.backward_ended()
        clock.now += 0.75
    timer.optimizer_ended()
    clock.now += 0.125


def timed(timer: BatchTimer, clock: SetClock, batches: int) -> list[Row]:
    for _ in range(batches):
        load(timer, clock, 3)
        step(timer, clock)
    timer.load_begun()
    timer.finish()
    return timer.rows


@pytest.mark.parametrize("slow", [False, True])
def test_the_parts_of_a_batch(slow: bool) -> None:
    clock = SetClock(slow)
    rows = timed(BatchTimer(clock, untimed=2), clock, 5)
    assert len(rows) == 3
    for row in rows:
        assert row[:7] == (0, 4, 3, 3, 5, 1, 12.875)


def test_what_is_not_trained_on_is_left_out() -> None:
    clock = SetClock()
    timer = BatchTimer(clock, untimed=0)
    for _ in range(2):
        load(timer, clock, 1)
        step(timer, clock)
        load(timer, clock, 100, None)  # an iterator of a second loader
        for _ in range(3):  # validation
            load(timer, clock, 100)
            timer.forward_begun()
            clock.now += 100
        timer.load_begun()
        timer.epoch_ended(trained=False)
    assert [row.total for row in timer.rows] == [10.875, 10.875]
    assert timer.epochs == 0


def test_several_loaders_may_be_read_for_one_step() -> None:
    clock = SetClock()
    timer = BatchTimer(clock, untimed=0)
    load(timer, clock, 1)
    load(timer, clock, 2, None)
    step(timer, clock)
    timer.load_begun()
    assert [row.load for row in timer.rows] == [3]


def test_the_start_of_an_epoch_is_loading() -> None:
    clock = SetClock()
    timer = BatchTimer(clock, untimed=0)
    load(timer, clock, 10, None)  # workers start
    load(timer, clock, 1)
    step(timer, clock)
    timer.load_begun()
    timer.epoch_ended(trained=True)
    clock.now += 1000  # a checkpoint is saved
    load(timer, clock, 10, None)
    load(timer, clock, 1)
    step(timer, clock)
    timer.load_begun()
    assert [(row.epoch, row.load) for row in timer.rows] == [(0, 11), (1, 11)]


def test_marks_are_reused_once_and_never_while_they_are_needed() -> None:
    clock = SetClock()
    timer = BatchTimer(clock, untimed=0)
    timed(timer, clock, 4)
    assert len(clock.reused) == len(set(clock.reused))
    assert clock.now not in clock.reused


@pytest.mark.parametrize("calls", [1, 2])
def test_what_a_closure_computes_is_no_time_of_the_optimizer(calls: int) -> None:
    """Lightning's loop and LBFGS run forward and backward pass inside the optimizer's step."""
    clock = SetClock(False)
    timer = BatchTimer(clock, untimed=0)
    for _ in range(3):
        load(timer, clock, 3)
        step_with_closure(timer, clock, calls)
        assert timer.trained
    timer.load_begun()
    timer.finish()
    assert len(timer.rows) == 3
    for row in timer.rows:
        assert (row.load, row.forward, row.backward) == (3, 3 * calls, 5 * calls)
        assert row.optimizer == 0.25 + 0.75 * calls
        assert row.total == 3 + 0.5 + row.forward + row.backward + row.optimizer + 0.125


def test_a_closure_that_fails_does_not_hold_the_next_batch() -> None:
    clock = SetClock(False)
    timer = BatchTimer(clock, untimed=0)
    load(timer, clock, 1)
    assert timer.optimizer_begun()
    timer.forward_begun()
    assert timed(timer, clock, 2)[-1].optimizer == 1
