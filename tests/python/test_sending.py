"""What sending a batch from a worker process would cost, where the training process loads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader

import cachebisect
from cachebisect._chain import trees
from cachebisect._job import sending
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.sending import batches_to_send, sending_cost
from cachebisect._job.state import KeptState
from loaders import Items

BATCH = {"image": torch.zeros(8, 3, 4), "label": torch.zeros(8, dtype=torch.int64), "name": ["a"]}


def children() -> list[int]:
    """Processes of this one that have not ended."""
    return [process.pid or 0 for process in multiprocessing.active_children()]


def test_both_sides_cost_something_and_nothing_is_left() -> None:
    before = children()
    cost = sending_cost(BATCH)
    assert cost is not None
    assert cost.trainer_seconds > 0 and cost.worker_seconds >= 0
    assert children() == before
    assert set(cost.to_json()) == {"worker_seconds", "trainer_seconds"}


def test_of_large_batches_fewer_are_sent() -> None:
    megabyte = torch.empty(1 << 20, dtype=torch.uint8)
    sent = [batches_to_send([megabyte] * megabytes) for megabytes in (1, 21, 32, 100, 4000)]
    assert sent == [12, 12, 8, 4, 4]


class Clocks:
    """The clocks of both processes: they run where the test says."""

    def __init__(self, own: Any) -> None:
        self.sleep, self.monotonic = own.sleep, own.monotonic
        self.wall = self.cpu = 0.0

    def perf_counter(self) -> float:
        return self.wall

    def process_time(self) -> float:
        return self.cpu

    def thread_time(self) -> float:
        return self.cpu


def test_what_is_planted_on_each_side_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker computes for 20 ms, and the training thread takes 30 ms."""
    clocks = Clocks(sending.time)
    clone, touch = trees.clone_as_allocated, sending._touch

    def slow_clone(batch: Any, shared: Any) -> Any:
        clocks.cpu += 20e-3
        return clone(batch, shared)

    def slow_touch(batch: Any) -> None:
        clocks.wall += 30e-3
        touch(batch)

    monkeypatch.setattr(sending, "time", clocks)
    monkeypatch.setattr(trees, "clone_as_allocated", slow_clone)
    monkeypatch.setattr(sending, "_touch", slow_touch)
    cost = sending_cost(BATCH)
    assert cost is not None
    assert cost.worker_seconds == pytest.approx(20e-3)
    assert cost.trainer_seconds == pytest.approx(30e-3)


def test_what_collate_copies_in_any_process_is_no_cost_of_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "_copying_seconds", lambda _batch: 10.0)
    cost = sending_cost(BATCH)
    assert cost is not None and cost.worker_seconds == 0


@pytest.mark.parametrize(
    "batch",
    [
        {"name": ["a", "b"]},
        {"image": torch.zeros(2, device="meta")},
        {"image": torch.zeros(2).to_sparse()},
    ],
)
def test_batches_that_no_process_can_send_are_not_tried(batch: Any) -> None:
    assert sending_cost(batch) is None


def test_what_cannot_be_pickled_ends_at_once_and_without_words(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert sending_cost({"image": torch.zeros(2), "more": [lambda: None]}) is None
    assert capfd.readouterr() == ("", "")


def test_workers_that_are_not_forked_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("spawn", "forkserver"):
        monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none, m=method: m)
        assert sending_cost(BATCH) is None
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none: None)
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["forkserver", "fork"])
    assert sending_cost(BATCH) is None


def test_nor_without_room_in_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "free_shared_memory", lambda: 1000.0)
    assert sending_cost(BATCH) is None
    monkeypatch.setattr(sending, "free_shared_memory", lambda: None)
    assert sending_cost(BATCH) is None


@pytest.mark.parametrize("how", ["is killed", "fails", "hangs"])
def test_a_child_that_ends_is_no_error_of_the_program(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = children()
    mine = os.getpid()

    def clone(_batch: Any, _shared: Any) -> Any:
        assert os.getpid() != mine
        if how == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "fails":
            raise RuntimeError("no memory")
        time.sleep(600)

    monkeypatch.setattr(trees, "clone_as_allocated", clone)
    monkeypatch.setattr(sending, "_SECONDS", 0.5)
    assert sending_cost(BATCH) is None
    assert children() == before


def test_the_start_method_stays_open_to_the_program() -> None:
    """Asking for it fixes it."""
    code = (
        "import multiprocessing, torch\n"
        "from cachebisect._job.sending import sending_cost\n"
        "assert sending_cost([torch.zeros(3)]) is not None\n"
        "assert multiprocessing.get_start_method(allow_none=True) is None\n"
    )
    package = Path(cachebisect.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_jobs_that_load_in_the_training_process_tell_the_engine() -> None:
    told = []
    for workers in (0, 1):
        job = Job(DataLoader(Items(), batch_size=4, num_workers=workers), KeptState(()))
        try:
            told.append(job.describe(PassThrough(), [])["chain"])
        finally:
            job.close()
    assert told[0]["sending"]["trainer_seconds"] > 0
    assert "sending" not in told[1]
