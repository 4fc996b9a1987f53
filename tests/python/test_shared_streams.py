"""Workers that all give the same samples of an iterable dataset are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, IterableDataset, TensorDataset, get_worker_info

from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.shared_streams import shared_streams
from cachebisect._job.state import KeptState

WORDS = "all 2 workers give the same samples"


class Numbers(IterableDataset):  # type: ignore[type-arg]
    """12 numbers from each of the first `workers` workers: the same, unless it divides them; or the
    same number."""

    def __init__(self, divides: bool = False, constant: bool = False, workers: int = 8) -> None:
        self.divides = divides
        self.constant = constant
        self.workers = workers

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        own = info.id if self.divides and info is not None else 0
        if info is not None and info.id >= self.workers:
            return
        for number in range(12):
            yield torch.tensor([0.0 if self.constant else 100.0 * own + number])


def notes_of(dataset: Any, workers: int) -> str:
    job = Job(DataLoader(dataset, batch_size=2, num_workers=workers), KeptState(()))
    try:
        return " ".join(job.describe(PassThrough(), [])["notes"])
    finally:
        job.close()


def test_a_dataset_that_does_not_divide_its_samples_is_told() -> None:
    notes = notes_of(Numbers(), 2)
    assert WORDS in notes
    assert "each sample 2 times" in notes


@pytest.mark.parametrize(
    "dataset, workers",
    [
        (Numbers(divides=True), 2),
        (Numbers(constant=True), 2),
        (Numbers(workers=1), 2),
        (Numbers(), 0),
        (Numbers(), 1),
    ],
)
def test_what_is_no_evidence_is_not(dataset: Any, workers: int) -> None:
    assert "give the same samples" not in notes_of(dataset, workers)


def test_a_map_style_dataset_has_no_streams() -> None:
    assert "give the same samples" not in notes_of(TensorDataset(torch.arange(16.0)), 2)


@pytest.mark.parametrize(
    "streams, same",
    [
        ([[1, 2, 3], [1, 2, 3], [1, 2, 3]], True),
        ([[1, 2, 3], [1, 2, 4]], False),
        ([[1, 2, 3], [1, 2]], False),
        ([[1], [1]], False),
        ([[], []], False),
    ],
)
def test_streams_are_compared_to_their_end(streams: list[list[int]], same: bool) -> None:
    of_workers = dict(enumerate(streams))
    assert bool(shared_streams(of_workers, len(streams))) == same
    assert shared_streams(of_workers, len(streams) + 1) == []
