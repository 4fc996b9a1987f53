"""What the first steps of a loop tell, by given times."""

from __future__ import annotations

from typing import Any

import pytest

from cachebisect._job import pass_through
from cachebisect._job.pass_through import PASS_MIN_STEPS, PASS_STEPS, PassThrough


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: Any) -> Clock:
    made = Clock()
    monkeypatch.setattr(pass_through.time, "monotonic", made.monotonic)
    return made


def passed_steps(clock: Clock, seconds: list[float]) -> PassThrough:
    """One step of 8 samples for each of `seconds`."""
    passed = PassThrough(samples_per_batch=8)
    for step in seconds:
        passed.before_batch()
        passed.after_batch("a batch")
        clock.now += step
    passed.before_batch()
    return passed


def test_slow_first_steps_do_not_count(clock: Clock) -> None:
    passed = passed_steps(clock, [3.4, 1.0, 0.5, *[0.2] * (PASS_MIN_STEPS - 3)])
    assert passed.rate() == pytest.approx(40.0)
    assert passed.is_enough()


def test_steps_that_become_faster_all_the_time_have_no_rate_yet(clock: Clock) -> None:
    passed = passed_steps(clock, [0.97**n for n in range(PASS_MIN_STEPS)])
    assert passed.rate() is None
    assert passed.is_enough()  # It has taken long enough.
    passed = passed_steps(clock, [0.3 * 0.95**n for n in range(PASS_MIN_STEPS)])
    assert passed.rate() is None
    assert not passed.is_enough()
    passed = passed_steps(clock, [0.3 * 0.95**n for n in range(PASS_STEPS)])
    assert passed.is_enough()


def test_short_steps_have_no_rate(clock: Clock) -> None:
    passed = passed_steps(clock, [1e-3] * PASS_STEPS)
    assert passed.rate() is None and passed.is_enough()


def test_the_first_batch_is_no_time_that_a_batch_takes(clock: Clock) -> None:
    passed = PassThrough(opened_seconds=1.0)
    for waited in (5.0, 0.5, 0.5):
        passed.before_batch()
        clock.now += waited
        passed.after_batch("a batch")
    assert passed.waited_per_batch() == pytest.approx(0.5)
    assert passed.epoch_start_seconds() == pytest.approx(6.0)
