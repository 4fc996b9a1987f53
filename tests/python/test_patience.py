"""Loaders whose workers wait: for each other, which works, or for ever, which is told."""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from cachebisect._job import loaders
from cachebisect._job.job import Job
from cachebisect._job.shadow import LoaderGone
from cachebisect._job.state import KeptState


class Meeting(IterableDataset):  # type: ignore[type-arg]
    """As mosaicml's StreamingDataset: all workers of a loader meet before they read."""

    def __init__(self, extra: int = 0) -> None:
        self.arrived = multiprocessing.Value("i", 0)
        self.extra = extra
        """Workers that never come."""

    def __iter__(self) -> Any:
        info = get_worker_info()
        assert info is not None
        with self.arrived.get_lock():
            self.arrived.value += 1
        while self.arrived.value < info.num_workers + self.extra:
            time.sleep(0.005)
        for number in range(1000):
            yield torch.full((4,), float(number))


def test_workers_that_wait_for_each_other_are_all_asked() -> None:
    job = Job(DataLoader(Meeting(), batch_size=4, num_workers=2), KeptState(()))
    try:
        assert next(stage.name for stage in job.chain.stages) == "read Meeting.__iter__"
    finally:
        job.close()


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_workers_that_wait_for_ever_are_told(seconds: float, monkeypatch: Any) -> None:
    """Also if they begin after their time is over."""
    monkeypatch.setattr(loaders, "PROBE_SECONDS", seconds)
    told = f"gave no batch within {seconds:.0f} s: they may wait for each other"
    with pytest.raises(LoaderGone, match=told):
        Job(DataLoader(Meeting(extra=1), batch_size=4, num_workers=2), KeptState(()))
