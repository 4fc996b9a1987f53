"""Finding members, recording their calls and making samples again. No torch."""

from __future__ import annotations

from typing import Any

import pytest

from cachebisect._chain.slots import collapsed, find_slots
from cachebisect._worker import tape as tape_module
from cachebisect._worker.recording import record
from cachebisect._worker.tape import (
    Copies,
    StageTimes,
    answer_from,
    replay,
    replay_with,
    timed,
    timed_run,
)
from members import Compose


class Add:
    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, x: list[int]) -> list[int]:
        self.calls += 1
        return [v + self.number for v in x]


class AddInPlace(Add):
    def __call__(self, x: list[int]) -> list[int]:
        self.calls += 1
        x[:] = [v + self.number for v in x]
        return x


class NumberDataset:
    def __init__(self, transform: Any) -> None:
        self.transform = transform
        self.reads = 0

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        return {"x": self.transform([index]), "index": index}


class Wrapper:
    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __getitem__(self, index: int) -> Any:
        return self.dataset[index]


def names(dataset: Any) -> list[str]:
    return [slot.name for slot in find_slots(dataset)]


def test_members_of_a_compose_are_found_through_wrappers() -> None:
    dataset = NumberDataset(Compose([Add(1), len]))
    assert names(Wrapper(dataset)) == ["transforms[0] Add", "transforms[1] len"]


def test_a_tuple_of_members_can_be_replaced() -> None:
    dataset = NumberDataset(Compose((Add(1), Add(2))))
    tape = record(find_slots(dataset), lambda: dataset[5], Copies())
    assert [call.output for call in tape.calls] == [[6], [8]]
    assert type(dataset.transform.transforms) is tuple
    assert [type(m) for m in dataset.transform.transforms] == [Add, Add]


def test_single_callables_are_members_and_types_are_not() -> None:
    dataset = NumberDataset(Add(1))
    dataset.cast = float  # type: ignore[attr-defined]
    assert names(dataset) == ["transform Add"]


def test_choosing_containers_are_one_member() -> None:
    class RandomApply(Compose):
        pass

    dataset = NumberDataset(Compose([RandomApply([Add(1)]), Add(2)]))
    assert names(dataset) == ["transforms[0] RandomApply", "transforms[1] Add"]


def test_containers_stand_in_for_members_that_cannot_be_used() -> None:
    slots = find_slots(NumberDataset(Compose([Add(1), Add(2)])))
    assert [s.name for s in collapsed(slots, {"transforms[1] Add"})] == ["transform Compose"]


@pytest.mark.parametrize("first_live,calls", [(0, [1, 1]), (1, [0, 1]), (2, [0, 0])])
def test_replay_runs_the_live_members_alone(first_live: int, calls: list[int]) -> None:
    members = [Add(1), Add(10)]
    dataset = NumberDataset(Compose(members))
    copies = Copies()
    tape = record(find_slots(dataset), lambda: dataset[3], copies)
    for member in members:
        member.calls = 0
    assert replay(tape, first_live, copies) == {"x": [14], "index": 3}
    assert [member.calls for member in members] == calls
    assert dataset.reads == 1


def test_overwritten_values_are_found_and_copied() -> None:
    dataset = NumberDataset(Compose([Add(1), AddInPlace(10)]))
    slots, copies = find_slots(dataset), Copies()
    while True:
        known = len(copies)
        tape = record(slots, lambda: dataset[3], copies)
        if len(copies) == known:
            break
    assert copies.outputs == {0}
    for _ in range(3):
        for first_live in range(3):
            assert replay(tape, first_live, copies) == {"x": [14], "index": 3}


class Box:
    def __init__(self, number: int) -> None:
        self.number = number


def add_ten_in_place(box: Box) -> Box:
    box.number += 10
    return box


def test_an_argument_that_its_own_member_overwrites_is_copied() -> None:
    class Boxes(NumberDataset):
        def __getitem__(self, index: int) -> Any:
            return self.transform(Box(index))

    dataset, copies = Boxes(Compose([add_ten_in_place])), Copies()
    record(find_slots(dataset), lambda: dataset[3], copies)
    assert copies.arguments == {0}
    tape = record(find_slots(dataset), lambda: dataset[3], copies)
    assert [replay(tape, 0, copies).number for _ in range(3)] == [13] * 3


def test_calls_inside_a_call_belong_to_it() -> None:
    inner = Add(1)

    class Outer(NumberDataset):
        def __init__(self) -> None:
            super().__init__(lambda x: self.inner(x))
            self.inner = inner

    dataset = Outer()
    tape = record(find_slots(dataset), lambda: dataset[3], Copies())
    assert len(tape.calls) == 1 and inner.calls == 1


def test_two_views_of_one_sample() -> None:
    class Views(NumberDataset):
        def __getitem__(self, index: int) -> Any:
            return self.transform([index]), self.transform([index + 1])

    dataset = Views(Compose([Add(1), Add(10)]))
    copies = Copies()
    tape = record(find_slots(dataset), lambda: dataset[3], copies)
    assert [call.stage for call in tape.calls] == [0, 1, 0, 1]
    for first_live in range(3):
        assert replay(tape, first_live, copies) == ([14], [15])


def fail(_x: Any) -> Any:
    raise OSError("disk")


def test_originals_are_back_after_an_error() -> None:
    member = Add(1)
    dataset = NumberDataset(Compose([member, fail]))
    with pytest.raises(OSError):
        record(find_slots(dataset), lambda: dataset[3], Copies())
    assert dataset.transform.transforms == [member, fail]


def test_bypass_answers_one_member_from_the_cache() -> None:
    members = [Add(1), Add(10)]
    dataset = NumberDataset(Compose(members))
    slots = find_slots(dataset)
    tapes = [record(slots, lambda: dataset[3], Copies())]
    sample = answer_from(tapes, 0, slots[0], Copies(), lambda: dataset[100])
    assert sample == {"x": [14], "index": 100}


def test_timed_replay_counts_the_live_members() -> None:
    dataset = NumberDataset(Compose([Add(1), Add(10)]))
    tape = record(find_slots(dataset), lambda: dataset[3], Copies())
    times = StageTimes([0.0, 0.0], [0.0, 0.0])
    replay_with(tape, 1, Copies(), timed_run(times))
    assert times.busy[0] == 0 and times.busy[1] > 0


def test_reading_the_clocks_is_no_time_of_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def thread_time() -> float:
        nonlocal now
        now += 5.0  # Another thread runs meanwhile.
        return 0.0

    def work() -> None:
        nonlocal now
        now += 1.0

    monkeypatch.setattr(tape_module, "thread_time", thread_time)
    monkeypatch.setattr(tape_module, "perf_counter", lambda: now)
    times = StageTimes([0.0], [0.0])
    timed(times, 0, work, (), {})
    assert times.busy == [1.0]
    assert times.reading == 10.0
