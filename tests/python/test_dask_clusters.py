"""dask's processes for all workers: begun for a live arm, and ended with the job."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("dask.distributed")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain import facts
from cachebisect._job import dask_clusters
from cachebisect._job.dask_clusters import DaskClusters
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._worker import dask_threads
from job_blocks import live, run

POLLS = 1200


class Computed(Dataset):  # type: ignore[type-arg]
    """A sample: the process that computed it, and that which asked."""

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> Any:
        import dask

        [process] = dask.compute(dask.delayed(os.getpid)(), scheduler=None)
        return torch.tensor([process, os.getpid()])


@pytest.fixture
def job() -> Any:
    made = Job(DataLoader(Computed(), batch_size=2, num_workers=2), KeptState(()))
    yield made
    made.close()


def test_all_workers_compute_in_one_cluster_that_ends_with_the_job(job: Any) -> None:
    plain = {int(row[0]) for batch in run(job, live()) for row in batch}
    before = set(facts.descendants())
    asked = live(dask_processes="1")
    assert job.supports(asked), job.why
    rows = [row for batch in run(job, asked) for row in batch]
    [computed] = {int(row[0]) for row in rows}
    assert computed not in plain | {os.getpid()} | {int(row[1]) for row in rows}
    assert len({int(row[1]) for row in rows}) == 2, "both workers"
    begun = set(facts.descendants()) - before
    assert computed in begun
    assert {int(row[0]) for batch in run(job, live()) for row in batch} <= plain
    job.close()
    ends(begun)


def test_it_ends_where_the_process_that_asked_is_killed(tmp_path: Path) -> None:
    code = (
        "from cachebisect._job.dask_clusters import DaskClusters; import time;"
        "clusters = DaskClusters(); clusters.address(1);"
        "from cachebisect._chain import facts; print(*facts.descendants(), flush=True);"
        "time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    asking = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    with asking:
        try:
            assert asking.stdout is not None
            begun = {int(word) for word in asking.stdout.readline().split()}
            assert len(begun) >= 2
        finally:
            asking.send_signal(signal.SIGKILL)
    ends(begun)


def test_a_cluster_that_cannot_run_is_a_reason(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_clusters, "_CODE", "raise SystemExit('no room for {} processes')")
    assert not job.supports(live(dask_processes="3"))
    assert job.why == "a cluster of dask does not start: no room for 3 processes"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ValueError, match="pip install distributed"):
        DaskClusters().address(1)


def test_what_the_processes_of_a_cluster_inherit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEBISECT_SOCKET", "/nowhere")
    monkeypatch.setattr(sys, "path", ["", "/some/modules"])
    environment = dask_clusters._environment()
    assert "CACHEBISECT_SOCKET" not in environment
    assert environment["PYTHONPATH"] == f"{os.getcwd()}{os.pathsep}/some/modules"


def test_a_worker_that_finds_no_scheduler_says_so() -> None:
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(OSError):
        dask_threads.use_cluster("tcp://127.0.0.1:9")


def ends(processes: set[int]) -> None:
    for _ in range(POLLS):
        left = [pid for pid in processes if is_alive(pid)]
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(f"still there: {left}")


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
