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


def test_workers_that_wait_for_ever_are_told(monkeypatch: Any) -> None:
    monkeypatch.setattr(loaders, "PROBE_SECONDS", 1.0)
    with pytest.raises(LoaderGone, match="gave no batch within 1 s: they may wait for each other"):
        Job(DataLoader(Meeting(extra=1), batch_size=4, num_workers=2), KeptState(()))
