"""The time that a loader spends on the state of its dataset is told."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
stateful_dataloader = pytest.importorskip("torchdata.stateful_dataloader")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain import snapshots
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState


class Clock:
    """Moves with the calls of a dataset's state_dict alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Stateful(Dataset):  # type: ignore[type-arg]
    """Each snapshot takes `seconds` of `clock`."""

    def __init__(self, clock: Any, seconds: float, fails: bool = False) -> None:
        self.clock = clock
        self.seconds = seconds
        self.fails = fails
        self.calls = 0

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        return torch.tensor([float(index)])

    def state_dict(self) -> dict[str, Any]:
        self.calls += 1
        self.clock.now += self.seconds
        if self.fails:
            raise RuntimeError("not iterated yet")
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(snapshots, "perf_counter", clock)
    return clock


def notes(dataset: Any, **arguments: Any) -> list[str]:
    loader = stateful_dataloader.StatefulDataLoader(dataset, batch_size=4, **arguments)
    return snapshots.snapshot_notes(loader)


def test_slow_snapshots_are_told_with_how_often_they_are_taken(clock: Clock) -> None:
    slow = Stateful(clock, 2.6)
    [note] = notes(slow)
    assert "takes 2,600 ms" in note and "after each batch" in note
    assert slow.calls == 1
    [rare] = notes(slow, snapshot_every_n_steps=10)
    assert "after every 10 batches" in rare


def test_what_costs_little_or_cannot_be_told_is_not(clock: Clock) -> None:
    quick = Stateful(clock, 0.0005)
    assert notes(quick) == []
    assert quick.calls == 2
    assert notes(Stateful(clock, 0.1), snapshot_every_n_steps=1000) == []
    assert notes(Stateful(clock, 1.0, fails=True)) == []
    assert notes([1, 2, 3, 4]) == []
    assert snapshots.snapshot_notes(DataLoader(Stateful(clock, 2.6))) == []


def test_the_note_is_part_of_the_description(clock: Clock) -> None:
    loader = stateful_dataloader.StatefulDataLoader(Stateful(clock, 2.6), batch_size=4)
    job = Job(loader, KeptState(()))
    try:
        described = job.describe(PassThrough(), [])["notes"]
    finally:
        job.close()
    assert any("a snapshot of the dataset's state takes 2,600 ms" in note for note in described)
