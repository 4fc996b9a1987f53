"""What a profiled script's batches and loader are told of."""

from __future__ import annotations

import os
import types
from pathlib import Path
from typing import Any

import pytest

from cachebisect._timing.batch_timer import BatchTimer
from cachebisect._timing.fetches import Fetch, FetchLog
from cachebisect._timing.marks import HostMarks
from cachebisect._timing.profiling import ProfilingSession

PROFILE = {"wait": 0, "warmup": 0, "active": 2, "trace": "", "shapes": False, "memory": False}


class VirtualMarks(HostMarks):
    """The clock moves only where a test moves it."""

    now = 0.0

    def mark(self) -> float:
        return self.now


class SlowProfiler:
    """Takes long to write its trace, as torch.profiler does after its last step."""

    def __init__(self, marks: VirtualMarks) -> None:
        self._marks = marks

    def step(self) -> None:
        self._marks.now += 0.2

    def stop(self) -> None:
        pass


@pytest.fixture
def session(tmp_path: Path) -> Any:
    profile = {**PROFILE, "fetches": str(tmp_path), "loading": str(tmp_path / "loading.json")}
    session = ProfilingSession({"file": str(tmp_path / "times.json")}, profile)
    session._learnt = True
    session.timer = BatchTimer(HostMarks(), untimed=0)
    return session


def train(session: Any, batches: int) -> None:
    for _ in range(batches):
        session.load_begun()
        session.timer.load_ended(4)
        session.timer.backward_begun()
        session.timer.backward_ended()


def test_what_the_profiler_writes_after_a_step_is_no_time_of_that_step(session: Any) -> None:
    marks = VirtualMarks()
    session.timer = BatchTimer(marks, untimed=0)
    train(session, 1)
    session._profiler = SlowProfiler(marks)
    session.load_begun()
    (row,) = session.timer.rows
    assert row.total == 0


def workers(*pids: int) -> Any:
    return types.SimpleNamespace(_workers=[types.SimpleNamespace(pid=pid) for pid in pids])


def test_workers_of_all_epochs_are_one_list_each(session: Any, tmp_path: Path) -> None:
    for epoch in (workers(11, 12), workers(21, 22), workers(21, 22)):
        session.trained_with(epoch)
    second = 10**9
    for pid, began in ((11, 0), (12, 1), (21, 4), (22, 8), (33, 5)):
        lines = b"0 %d %d %d\n" % (began * second, (began + 1) * second, (began + 2) * second)
        (tmp_path / str(pid)).write_bytes(lines)
    content = session._loading_content(1 * second, 9 * second)
    assert content == {
        "begin_ns": second,
        "seconds": 8.0,
        "workers": [
            {"began": [0.0, 3.0], "collating": [0.0, 4.0], "ended": [1.0, 5.0]},
            {"began": [0.0, 7.0], "collating": [1.0, 8.0], "ended": [2.0, 8.0]},
        ],
    }


def test_a_loader_that_fetches_in_a_way_of_its_own_has_no_workers(session: Any) -> None:
    session.trained_with(workers(11))
    assert session._loading_content(0, 1)["workers"] == []
    session.trained_with(object())
    assert session._loading == [[11]]


def test_of_this_process_only_what_loads_for_training_counts(session: Any, tmp_path: Path) -> None:
    fetcher = types.SimpleNamespace(_cachebisect_number=3)
    session.trained_with(types.SimpleNamespace(_dataset_fetcher=fetcher))
    log = FetchLog(str(tmp_path))
    log.write(Fetch(2, 0, 1, 2))
    log.write(Fetch(3, 3, 4, 5))
    found = session._fetched_by([os.getpid()])
    assert found == [Fetch(3, 3, 4, 5)]
