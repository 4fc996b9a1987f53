"""CPU time of a job: its own, that of its workers, and of processes that an iterator starts."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._chain import facts
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from job_blocks import live, run
from test_iterator_job import Batches


def starts_another(started: Any, go_on: Any) -> None:
    below = multiprocessing.get_context("fork").Process(target=go_on.wait)
    below.start()
    started.send(below.pid)
    below.join()


def test_processes_below_are_found() -> None:
    fork = multiprocessing.get_context("fork")
    go_on = fork.Event()
    here, there = fork.Pipe()
    child = fork.Process(target=starts_another, args=(there, go_on))
    child.start()
    grandchild = here.recv()
    found = facts.descendants()
    go_on.set()
    child.join()
    assert {child.pid, grandchild} <= set(found)
    assert os.getpid() not in found
    assert not {child.pid, grandchild} & set(facts.descendants())


def leaves_the_session(left: Any, go_on: Any) -> None:
    os.setsid()
    left.set()
    go_on.wait()


def test_the_engine_of_a_library_call_is_not_counted_twice() -> None:
    """It has a session of its own, and counts itself."""
    fork = multiprocessing.get_context("fork")
    left, go_on = fork.Event(), fork.Event()
    child = fork.Process(target=leaves_the_session, args=(left, go_on))
    child.start()
    left.wait()
    found = facts.descendants()
    go_on.set()
    child.join()
    assert child.pid not in found


def test_processes_of_an_iterator_count_in_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = multiprocessing.get_context("fork")
    go_on = fork.Event()
    helper = fork.Process(target=go_on.wait)
    helper.start()
    readings: list[int] = []

    def one_second_more(pid: int) -> float:
        readings.append(pid)
        return float(readings.count(pid)) if pid == helper.pid else 0.0

    monkeypatch.setattr(facts, "cpu_seconds", one_second_more)
    job = Job(Batches(), KeptState())
    try:
        job.describe(PassThrough(), [])
        run(job, live())
        assert readings.count(helper.pid) == 2  # before and after the steps that count
        assert job.cpu_seconds() > 2
    finally:
        job.close()
        go_on.set()
        helper.join()
