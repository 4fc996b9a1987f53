"""A job over what is no DataLoader: its boundaries, where its batches lie, and live blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from cachebisect._chain.array_devices import UntimedDevice, lies_on_device
from cachebisect._chain.restart import Restarting
from cachebisect._chain.shared_stream import NoRoom, SharedStream
from cachebisect._chain.sharing import cannot_begin_twice
from cachebisect._job.iterable_feed import IterableFeed
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from commands import COMMAND, needs_command
from job_blocks import live, run

META = torch.device("meta")
"""Every machine has it; nothing runs there."""


class Batches:
    """Of 4 samples each, `length` in an epoch; `made` so far."""

    def __init__(self, device: Any = "cpu", length: int = 1000) -> None:
        self.device = device
        self.length = length
        self.made = 0

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.length):
            self.made += 1
            yield [{"data": torch.zeros(4, 2, device=self.device)}]


def replay(boundary: int) -> dict[str, Any]:
    return {**live(), "kind": "replay", "boundary": boundary}


@pytest.mark.parametrize(
    "lie,step,stages,held,on_device",
    [
        ("cpu", None, ["loader Batches"], ["host"], 0),
        ("cpu", META, ["loader Batches", "copy"], ["host", "device"], 1),
        ("meta", META, ["loader Batches"], ["device"], 1),
    ],
)
def test_the_boundaries_are_those_that_exist(
    lie: str, step: Any, stages: list[str], held: list[str], on_device: int
) -> None:
    batches = Batches(lie)
    job = Job(batches, KeptState(), step)
    try:
        described = job.describe(PassThrough(), [])
        found = described["chain"]["stages"]
        assert [stage["name"] for stage in found] == stages
        assert [stage["held"] for stage in found] == held
        assert described["arms"] == [{"kind": "replay", "boundaries": list(range(len(stages) + 1))}]
        notes = [note for note in described["notes"] if "on the device already" in note]
        assert len(notes) == (lie == "meta")
        facts = job.fill(8, lambda _: None)
        assert (facts["bytes_device"] > 0) == bool(on_device)
        assert facts["bytes_host"] > 0
        made = batches.made
        for boundary in range(1, len(stages) + 1):
            kinds = {batch[0]["data"].device.type for batch in run(job, replay(boundary))}
            assert kinds == {"meta" if held[boundary - 1] == "device" else "cpu"}
        assert batches.made == made
        run(job, replay(0))
        assert batches.made > made
    finally:
        job.close()


def test_an_iterator_may_give_the_same_memory_again() -> None:
    class Reuses:
        def __iter__(self) -> Iterator[Any]:
            held = torch.zeros(4, 1)
            for number in range(1000):
                yield held.fill_(number)

    job = Job(Reuses(), KeptState())
    try:
        job.describe(PassThrough(), [])
        job.fill(16, lambda _: None)
        assert len({float(batch[0]) for batch in run(job, replay(1))}) > 1
    finally:
        job.close()


def test_parts_in_host_memory_are_still_copied() -> None:
    there, here = torch.zeros(1, device="meta"), torch.zeros(1)
    assert lies_on_device([{"data": there, "name": "a"}, there])
    assert not lies_on_device({"data": there, "label": here})
    assert not lies_on_device("no data at all")


def test_batches_on_a_device_that_is_not_timed_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._chain.array_devices._TIMED", ("cpu", "cuda"))
    with pytest.raises(UntimedDevice, match="batches are torch.Tensor on meta; the queue of that"):
        Job(Batches("meta"), KeptState(), META)


def test_what_was_made_in_advance_is_dropped_before_a_live_block() -> None:
    clock = iter([0.0, 0.001, 1.0, 1.001, 2.0, 2.1])  # The third batch has to be waited for.
    taken: list[int] = []
    feed = IterableFeed(lambda: taken.append(1), usual_wait=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cachebisect._job.iterable_feed.time.monotonic", lambda: next(clock))
        feed.begin(1)
    assert len(taken) == 3


def test_an_iterator_that_never_makes_one_wait_is_asked_once() -> None:
    taken: list[int] = []
    IterableFeed(lambda: taken.append(1), usual_wait=0.0).begin(1)
    assert len(taken) == 1
    IterableFeed(lambda: taken.append(1), usual_wait=1e9).begin(1)
    assert len(taken) == 1 + 64


def test_an_epoch_that_is_too_short_for_a_block_gives_way_to_the_next() -> None:
    opened: list[int] = []

    class Epochs:
        def __iter__(self) -> Iterator[int]:
            opened.append(1)
            return iter(range(10))

    batches = Restarting(Epochs())
    assert batches.make_room(5) is None
    for _ in range(11):  # The first epoch tells how long they are.
        batches.next()
    assert batches.make_room(9) is None and batches.make_room(11) is None
    assert batches.make_room(10) is not None
    assert batches.next() == 0 and len(opened) == 3
    own = Restarting(iter(range(20)))
    own.next()
    assert own.make_room(20) is None


def test_a_stream_gives_training_what_measuring_took() -> None:
    source = iter(torch.arange(6))
    stream = SharedStream(source, None, (), lambda: iter([torch.tensor(100)]))
    assert int(next(stream)) == 0 and stream.is_shared and stream.keeps
    measured = stream.measured()
    first = next(measured)
    first.add_(50)  # A step that writes into its batch.
    assert [int(x) for x in measured] == [2, 3, 4, 5]
    assert [int(x) for x in stream.measured()] == [100]
    stream.begin_epoch(lambda: pytest.fail("it has begun"))
    assert [int(x) for x in stream] == [100]


def test_a_stream_in_the_middle_of_an_epoch_goes_on() -> None:
    begun: list[int] = []
    stream = SharedStream(iter(range(4)), None)
    assert next(stream.measured()) == 0
    stream.begin_epoch(lambda: begun.append(1))
    assert list(stream) == [0, 1, 2, 3] and not begun
    stream.begin_epoch(lambda: begun.append(1))
    assert begun == [1]


def test_a_stream_keeps_no_more_than_memory_allows(monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._chain.shared_stream.free_memory", lambda: 100.0)
    stream = SharedStream((torch.full((5,), float(n)) for n in range(9)), None)
    measured = stream.measured()
    next(measured), next(measured)
    with pytest.raises(NoRoom, match="measure without --then continue"):
        next(measured)
    assert [int(x[0]) for x in stream] == list(range(9))


def test_what_reads_something_once_cannot_be_opened_twice() -> None:
    import queue
    import threading

    def over(source: Any) -> Iterator[Any]:
        own = iter([1, 2])
        yield from own

    def closure_over(value: Any) -> Any:
        return lambda: value

    class Holder:
        def __init__(self, value: Any) -> None:
            self.value = value

        def each(self) -> Iterator[Any]:
            yield self.value

    for once in (iter([1]), queue.Queue(), threading.Thread(), (n for n in [1])):
        assert cannot_begin_twice(over(once), [])
        assert cannot_begin_twice(Holder(once).each(), [])
        assert cannot_begin_twice(iter([]), [Holder(Holder(once))])
        assert cannot_begin_twice(iter([]), [closure_over(once)])
    for often in ([1], {"a": 1}, "text", 7, Holder([1]), Batches(), torch.nn.Linear(1, 1)):
        started = over(often)
        next(started)  # Its own iterator and queue are its own.
        assert not cannot_begin_twice(started, [often])
    with open(__file__) as file:
        assert cannot_begin_twice(over(file), [])


def nothing(_batch: Any) -> None:
    pass


@needs_command
def test_a_function_that_makes_generators_is_a_loader(monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))

    def batches() -> Iterator[Any]:
        for _ in range(5):
            yield torch.zeros(4, 2)

    report = cachebisect.bisect(batches, nothing, budget=20, progress=False)
    assert report.exit_code == 0 and "loader batches" in json.dumps(report.to_dict())


@needs_command
def test_a_generator_that_ends_says_what_to_give(monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))
    with pytest.raises(cachebisect.BisectError, match="cannot begin again: give what makes one"):
        cachebisect.bisect((torch.zeros(4) for _ in range(5)), nothing, progress=False)
