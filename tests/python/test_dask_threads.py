"""dask's threads in the workers: seen, and changed by a live arm."""

from __future__ import annotations

import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain.settings import described_settings
from cachebisect._job import worker_findings
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cachebisect._worker.dask_threads import use_threads, used_threads
from job_blocks import live, run
from loaders import Items

THREADS = 4


class Lazy(Dataset):  # type: ignore[type-arg]
    """A sample says whether the worker's own thread has computed it, and by how many threads the
    pool of dask may."""

    def __len__(self) -> int:
        return 100

    def __getitem__(self, _index: int) -> Any:
        import dask

        if dask.config.get("num_workers", None) is None:
            dask.config.set(num_workers=THREADS)
        threads = dask.compute(*[dask.delayed(threading.get_ident)() for _ in range(8)])
        return torch.tensor([set(threads) == {threading.get_ident()}, used_threads() or 0])


@pytest.fixture
def job() -> Any:
    made: list[Job] = []

    def make(dataset: Any, workers: int = 1) -> Job:
        loader = DataLoader(dataset, batch_size=2, num_workers=workers)
        made.append(Job(loader, KeptState(())))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_live_arm_computes_in_the_thread_of_the_worker(job: Any) -> None:
    pytest.importorskip("dask")
    measured = job(Lazy())
    assert run(measured, live())[-1].tolist() == [[0, THREADS]] * 2
    for threads, expected in (("1", [1, 0]), ("2", [0, 2])):
        assert measured.supports(live(dask_threads=threads)), measured.why
        assert run(measured, live(dask_threads=threads))[-1].tolist() == [expected] * 2
    assert run(measured, live())[-1].tolist() == [[0, THREADS]] * 2


@pytest.mark.parametrize(("workers", "cores", "proposed"), [(2, 4, True), (2, 8, False)])
def test_it_is_proposed_where_threads_outnumber_cores(
    job: Any, monkeypatch: pytest.MonkeyPatch, workers: int, cores: int, proposed: bool
) -> None:
    pytest.importorskip("dask")
    monkeypatch.setattr(worker_findings, "_cores", lambda: cores)
    described = job(Lazy(), workers).describe(PassThrough(), [])
    line = described["advice"].get("dask_threads", "")
    assert line.endswith('dask.config.set(scheduler="single-threaded")') is proposed
    text = f"dask computes with {THREADS} threads in each of {workers} workers"
    assert any(text in note for note in described["notes"]) is proposed
    assert "dask_threads" in {setting["name"] for setting in described["settings"]}


def test_it_is_no_setting_where_dask_is_not_used(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dask", raising=False)
    described = job(Items()).describe(PassThrough(), [])
    assert "dask_threads" not in {setting["name"] for setting in described["settings"]}
    assert "dask_threads" not in described["advice"]
    every, others = (described_settings(dask=dask)["settings"] for dask in (True, False))
    names = {each["name"] for each in every} - {each["name"] for each in others}
    assert names == {"dask_threads", "dask_processes"}


def test_pools_count_that_have_run_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dask", raising=False)
    monkeypatch.delitem(sys.modules, "dask.threaded", raising=False)
    assert used_threads() is None
    monkeypatch.setitem(sys.modules, "dask", types.ModuleType("dask"))
    assert used_threads() == 0
    threaded: Any = types.ModuleType("dask.threaded")
    monkeypatch.setitem(sys.modules, "dask.threaded", threaded)
    with ThreadPoolExecutor(3) as pool, ThreadPoolExecutor(5) as idle:
        threaded.default_pool, threaded.pools = None, {threading.current_thread(): {5: idle}}
        assert used_threads() == 0, "no thread has been started"
        threaded.pools[threading.current_thread()][3] = pool
        pool.submit(int).result()
        assert used_threads() == 3
        threaded.default_pool = idle
        idle.submit(int).result()
        assert used_threads() == 5
    assert used_threads() == 0, "the threads have ended, as those of a process that was forked"


def test_what_dask_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    module: Any = types.ModuleType("dask")
    module.config = types.SimpleNamespace(set=lambda **values: told.append(values))
    monkeypatch.setitem(sys.modules, "dask", module)
    use_threads(1)
    use_threads(3)
    assert told == [{"scheduler": "single-threaded"}, {"scheduler": "threads", "num_workers": 3}]
    monkeypatch.setitem(sys.modules, "dask", None)  # Cannot be imported.
    use_threads(1)
