"""Chains of torch's data pipes: each member is a stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.utils.data.datapipes.iter")

from torch.utils.data import DataLoader

from cachebisect._chain.pipelines import switch_slots, with_switches
from cachebisect._worker import tape as tape_module
from cachebisect._worker.probe import probe
from cachebisect._worker.recording import settled
from cachebisect._worker.tape import Copies, StageTimes, answer_from, replay
from data_pipes import (
    Closing,
    Distinct,
    Halved,
    InAdvance,
    InPlace,
    Marked,
    Numbers,
    Pairs,
    double,
    is_even,
)
from measured import every_arm, measure
from test_look_ahead import described

WORKERS = [(0, None), (2, "fork"), (1, "forkserver")]


def chain() -> Any:
    pipe = Numbers(256).shuffle(buffer_size=10).sharding_filter().map(double)
    return Halved(pipe).filter(is_even).batch(4).unbatch().batch(4).collate()


def stages_of(loader: Any, tmp_path: Path) -> list[str]:
    return [stage["name"] for stage in described(loader, tmp_path)["stages"]]


@pytest.mark.parametrize("workers,method", WORKERS)
def test_each_member_is_a_stage(workers: int, method: Any, tmp_path: Path) -> None:
    loader = DataLoader(
        chain(), batch_size=None, num_workers=workers, multiprocessing_context=method
    )
    found = described(loader, tmp_path)
    assert [stage["name"] for stage in found["stages"]] == [
        "read Numbers.__iter__",
        "shuffle(buffer_size=10)",
        "sharding_filter",
        "map double",
        "Halved",
        "filter is_even",
        "batch(4)",
        "unbatch",
        "batch(4) (2)",
        "collate default_collate",
        "collate_fn default_convert",
        *["transfer"] * (workers > 0),
    ]
    assert [stage["type"] for stage in found["stages"][1:5]] == [
        "custom.shuffle",
        "custom.sharding_filter",
        "augment.double",
        "custom.Halved",
    ]
    assert any("shuffle(buffer_size=10): a shuffle buffer" in note for note in found["notes"])
    assert not any("part of `read`" in note for note in found["notes"])
    (tmp_path / "arms").mkdir()
    for batch in measure(loader, every_arm, tmp_path / "arms"):
        # A replay keeps what the filter kept, of whatever the buffer in front of it gives now.
        assert batch.ndim == 2 and 0 <= float(batch.min()) <= float(batch.max()) < 256


def test_what_fills_a_buffer_belongs_to_read(tmp_path: Path) -> None:
    pipe = Halved(Numbers()).shuffle(buffer_size=20)
    found = described(DataLoader(pipe, batch_size=4), tmp_path)
    names = [stage["name"] for stage in found["stages"]]
    assert names[:2] == ["read Numbers.__iter__", "shuffle(buffer_size=20)"]
    assert any("Halved: part of `read`" in note for note in found["notes"])


@pytest.mark.parametrize(
    "last,reason",
    [
        (InAdvance, "in threads or processes"),
        (Closing, "has a __del__"),
        (lambda pipe: pipe.zip(Numbers()), "from several pipes"),
        (lambda pipe: pipe.fork(2)[0], "from several pipes"),
    ],
)
def test_a_pipe_that_cannot_be_opened_up_is_a_source(
    last: Any, reason: str, tmp_path: Path
) -> None:
    pipe = last(Halved(Numbers())).map(str)
    found = described(DataLoader(pipe, batch_size=4), tmp_path)
    names = [stage["name"] for stage in found["stages"]]
    assert "Halved" not in names and names[0].startswith("read ")
    assert any(reason in note for note in found["notes"])


def test_one_that_cannot_be_repeated_belongs_to_read(tmp_path: Path) -> None:
    pipe = Halved(Distinct(Numbers()))
    names = stages_of(DataLoader(pipe, batch_size=4), tmp_path)
    assert names[:2] == ["read Numbers.__iter__", "Halved"]


def test_what_a_member_calls_says_more_than_the_member(tmp_path: Path) -> None:
    names = stages_of(DataLoader(Marked(Numbers()), batch_size=4), tmp_path)
    assert names[:2] == ["read Numbers.__iter__", "marked"]


def test_the_pipes_of_the_user_stay_as_they_are() -> None:
    numbers = Numbers(8)
    pipe = Halved(numbers.shuffle(buffer_size=3)).batch(2)
    own = iter(pipe)
    first = next(own)
    copied = with_switches(pipe)
    assert isinstance(copied, type(pipe)) and len(list(copied)) == 4
    rest = [item for batch in own for item in batch]  # Not ended by the iterator of the copy.
    assert sorted(float(item[0]) for item in [*first, *rest]) == [n / 2 for n in range(8)]
    assert numbers.opened == 1 and switch_slots(pipe) == []


def test_other_datasets_are_read_as_they_are() -> None:
    numbers = Numbers()
    assert with_switches(numbers) is numbers
    odd = Halved(numbers)
    odd.source = None
    assert with_switches(odd) is odd


def recorded(pipe: Any) -> tuple[Any, Any, Any, Any]:
    """The copy, its slots, copies and one tape."""
    copied = with_switches(pipe)
    slots, copies, items = switch_slots(copied), Copies(), iter(copied)
    return items, slots, copies, settled(slots, lambda: next(items), copies)


def test_a_replay_from_each_boundary_is_the_sample() -> None:
    pipe = Pairs(InPlace(Numbers().map(double))).batch(3).map(torch.stack)
    _, slots, copies, made = recorded(pipe)
    assert [slot.name for slot in slots] == [
        "map double", "InPlace", "Pairs", "batch(3)", "map stack",
    ]  # fmt: skip
    expected = made.sample.clone()
    assert expected[:, 0].diff().tolist() == [4.0, 4.0]
    for boundary in [*range(6), *range(6)]:
        assert torch.equal(replay(made, boundary, copies), expected), boundary


def test_members_behind_the_boundary_alone_run() -> None:
    _, _, copies, made = recorded(Halved(Numbers().map(double)).batch(4))
    before = Halved.made[0]
    replay(made, 2, copies)
    assert Halved.made[0] == before
    replay(made, 1, copies)
    assert Halved.made[0] == before + 4


def test_a_bypass_takes_what_the_member_would_take() -> None:
    pipe = Pairs(Halved(Numbers())).batch(2)
    items, slots, copies, made = recorded(pipe)
    before = Halved.made[0]
    for _ in range(3):
        sample = answer_from([made], 1, slots[1], copies, lambda: next(items))
        assert {float(item[0]) for item in sample} <= {0.5, 2.5}
    assert Halved.made[0] == before + 3 * 4


def test_the_time_of_a_member_is_its_own(monkeypatch: Any) -> None:
    now = [0.0]
    monkeypatch.setattr(tape_module, "perf_counter", lambda: now[0])
    monkeypatch.setattr(tape_module, "thread_time", lambda: now[0])

    def taking(seconds: float) -> Any:
        def work(item: Any) -> Any:
            now[0] += seconds
            return item

        return work

    class Slow(Halved):
        def __iter__(self) -> Any:
            now[0] += 1.0
            for item in self.source:
                now[0] += 10.0
                yield item

    copied = with_switches(Slow(Slow(Numbers()).map(taking(100.0))).batch(2))
    slots, items, times = switch_slots(copied), iter(copied), StageTimes([0.0] * 4, [0.0] * 4)

    def timer(stage: int, original: Any) -> Any:
        return lambda *args: tape_module.timed(times, stage, original, args, {})

    outside = lambda give: tape_module.timed_outside(times, give)
    with tape_module.Installed(slots, timer, outside):
        next(items)
    assert times.busy == times.cpu == [21.0, 200.0, 21.0, 0.0] and times.away == 0.0


def test_draws_belong_to_the_member_that_makes_them() -> None:
    class Noisy(Halved):
        def __iter__(self) -> Any:
            for item in self.source:
                yield item + torch.rand(4)

    copied = with_switches(Halved(Noisy(Halved(Numbers()))))
    items = iter(copied)
    found = probe(copied, [lambda: next(items)])
    random = [stage["random"] for stage in found["stages"]]
    assert random == [False, True, False] and not found["random"]


def test_workers_divide_the_items_among_them(tmp_path: Path) -> None:
    pipe = Halved(Numbers().sharding_filter())
    notes = described(DataLoader(pipe, batch_size=4, num_workers=2), tmp_path)["notes"]
    assert not any("same" in note for note in notes)
    (tmp_path / "undivided").mkdir()
    loader = DataLoader(Halved(Numbers()), batch_size=4, num_workers=2)
    assert any("same" in note for note in described(loader, tmp_path / "undivided")["notes"])
