"""Blocks of an arm go on where its last one stopped: nothing is lost, made twice, or free."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._job.arm_queues import ArmQueue, ArmQueues, Dealer, Entry
from cachebisect._job.feeds import WorkerFeed
from cachebisect._job.shadow import ShadowLoader
from cachebisect._worker.parking import Parked, Parking
from cachebisect._worker.tasks import HELD, LIVE, SharedArea, Stale, Task, idle_task

BATCH = 4


class Counted(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Sample i is i, and takes long enough that workers stop between samples."""

    def __init__(self, context: Any) -> None:
        self.calls = context.RawArray("l", 100_000)

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, index: int) -> int:
        time.sleep(5e-4)
        self.calls[index] += 1
        return index


class Stream(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
    """Each worker counts from its own thousands."""

    def __iter__(self) -> Iterator[int]:
        worker = torch.utils.data.get_worker_info().id
        for number in range(100_000):
            time.sleep(5e-4)
            yield 100_000 * worker + number


class Arm:
    """Takes `first`, `first` + BATCH, ... in order."""

    def __init__(self, shadow: ShadowLoader, first: int) -> None:
        self.shadow = shadow
        self.queue = ArmQueue()
        self.next = self.expected = first

    def run(self, block: int, steps: int) -> None:
        feed = WorkerFeed(self.shadow, self._task, True, self.queue)
        feed.begin(block)
        for _ in range(steps):
            batch, size = feed.take()
            assert size == BATCH
            assert batch.tolist() == list(range(self.expected, self.expected + BATCH))
            self.expected += BATCH
        feed.end()

    def _task(self, number: int, block: int, _asked: int) -> Task:
        indices = list(range(self.next, self.next + BATCH))
        self.next += BATCH
        return Task(number, block, LIVE, 0, 0, indices, (), True, 0, 0, 0, BATCH)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_arm_gets_its_batches_once_and_in_order(workers: int) -> None:
    data = Counted(multiprocessing.get_context())
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, num_workers=workers)
    shadow = ShadowLoader(loader)
    arms = [Arm(shadow, first) for first in (0, 40_000)]
    draw = random.Random(workers)
    try:
        for block in range(1, 25):
            arms[draw.randrange(2)].run(block, draw.randrange(1, 6))
            if block % 7 == 0:  # The caches are filled in between.
                shadow.begin_some(1000 + block, 1, lambda n, b=block: one_task(n, 1000 + b))
                shadow.receive()
                shadow.end()
    finally:
        shadow.close()
    for arm, first in zip(arms, (0, 40_000)):
        delivered, asked = arm.expected - first, arm.next - first
        assert asked - delivered <= shadow.in_flight * BATCH
        made = data.calls[first : first + asked]
        assert all(count == 1 for count in made[:delivered])
        assert max(made) == 1


@pytest.mark.parametrize("workers", [1, 3])
def test_no_sample_of_a_stream_is_lost(workers: int) -> None:
    loader = torch.utils.data.DataLoader(Stream(), batch_size=BATCH, num_workers=workers)
    shadow = ShadowLoader(loader)
    queues = [ArmQueue(), ArmQueue()]
    draw = random.Random(workers)
    delivered: list[int] = []

    def make(number: int, block: int, _asked: int) -> Task:
        return Task(number, block, LIVE, 0, 0, None, (), True, 0, 0, 0, BATCH)

    try:
        for block in range(1, 25):
            feed = WorkerFeed(shadow, make, True, queues[draw.randrange(2)])
            feed.begin(block)
            for _ in range(draw.randrange(1, 6)):
                batch = feed.take()[0].tolist()
                assert len(batch) == BATCH
                delivered += batch
            feed.end()
    finally:
        shadow.close()
    for worker in range(workers):
        own = [sample for sample in delivered if sample // 100_000 == worker]
        missing = set(range(min(own), max(own))) - set(own)
        assert len(set(own)) == len(own)
        # Two arms share the stream: what is missing waits in the other one's queue.
        assert len(missing) <= shadow.prefetch * len(queues) * BATCH


def test_tasks_for_former_stages_are_not_dealt_out_again() -> None:
    data = Counted(multiprocessing.get_context())
    shadow = ShadowLoader(torch.utils.data.DataLoader(data, batch_size=BATCH, num_workers=2))
    queue = ArmQueue()
    plans: list[tuple[str, ...]] = []
    after: list[tuple[str, ...]] = []

    def make(number: int, block: int, asked: int) -> Task:
        plan = ("new",) if after else ()
        indices = list(range(asked * BATCH, (asked + 1) * BATCH))
        return Task(number, block, LIVE, 0, 0, indices, plan, True, 0, 0, 0, BATCH)

    try:
        for block in range(1, 4):
            feed = WorkerFeed(shadow, make, True, queue)
            feed.begin(block)
            if block == 3:
                plans += [task.plan for task in shadow._outstanding.values()]
            feed.take()
            feed.end()
            if block == 2:
                shadow.forget()
                after.append(("new",))
    finally:
        shadow.close()
    assert plans == [("new",)] * shadow.in_flight


def one_task(number: int, block: int) -> Task:
    return Task(number, block, LIVE, 0, 0, [99_000], (), False, 0, 0)


def test_a_task_stops_between_two_samples_and_goes_on_there() -> None:
    area = area_in_block(1)
    parking = Parking(area, SlowSamples())
    task = task_of(block=1, ticket=5)
    made: list[int] = []

    def run(part: int) -> int:
        made.append(part)
        if part == 2:
            area.end_block()
        return part

    assert isinstance(parking.go_on(task, Parked([]), [1, 2, 3, 4], -1, run, run), Stale)
    assert made == [1, 2]
    area.block = 2
    again = task._replace(block=2)
    done = parking.go_on(again, parking.resumed(again), [1, 2, 3, 4], -1, run, run)
    assert isinstance(done, Parked) and done.samples == [1, 2, 3, 4]
    assert made == [1, 2, 3, 4]


def test_work_after_the_end_of_a_block_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    area = area_in_block(1)
    parking = Parking(area, SlowSamples())
    task = task_of(block=1, ticket=5)
    area.end_block()
    clock.now += 5.0  # the batch in work is finished
    parking.note_late(task)
    area.block = 2
    began = clock.now
    assert parking.catch_up(task._replace(block=2))
    assert clock.now - began == pytest.approx(5.0)
    assert parking.catch_up(task._replace(block=2))  # once
    assert clock.now - began == pytest.approx(5.0)


def test_a_wait_that_a_block_ends_goes_on_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    area = area_in_block(1)
    parking = Parking(area, SlowSamples())
    task = task_of(block=1, ticket=5)
    area.end_block()
    clock.now += 5.0
    parking.note_late(task)
    area.block = 2
    clock.at(clock.now + 2.0, area.end_block)
    assert not parking.catch_up(task._replace(block=2))
    area.block = 3
    began = clock.now
    assert parking.catch_up(task._replace(block=3))
    assert clock.now - began == pytest.approx(3.0, abs=0.01)


def test_tasks_are_dealt_out_again_before_new_ones() -> None:
    dealer = Dealer()
    dealer.make_task = lambda number: task_of(block=2, number=number)
    queue = ArmQueue()
    old = [task_of(block=1, number=n, ticket=n) for n in (7, 8)]
    queue.keep([Entry.of(old[0], "batch", None), Entry.of(old[1], Stale(), None)], 1)
    dealer.go_on(queue, 2, observed=False)
    dealer.begin(queue)
    dealt = [dealer.next(number) for number in (11, 12, 13)]
    assert [(t.number, t.ticket, t.mode, t.block) for t in dealt] == [
        (11, 7, HELD, 2), (12, 8, LIVE, 2), (13, 0, LIVE, 2),
    ]  # fmt: skip
    assert [t.observed for t in dealt] == [False, False, True]
    held = dealer.held(11)
    assert held is not None and held.batch == "batch" and dealer.held(12) is None


def test_arms_differ_by_all_but_whether_they_are_observed() -> None:
    queues = ArmQueues()
    live = {"kind": "replay", "boundary": 0, "observed": True}
    assert queues.of(live) is queues.of({**live, "observed": False})
    assert queues.of(live) is not queues.of({**live, "boundary": 1})
    queues.of(live).keep([Entry(idle_task(1))], 0)
    queues.of(live).filled = True
    queues.clear()
    assert not queues.of(live).filled and not queues.of(live).entries


class SlowSamples:
    samples_are_slow = True


class Clock:
    """Stands in for time.monotonic() and time.sleep()."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self._events: list[tuple[float, Any]] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self._sleep)

    def at(self, when: float, what: Any) -> None:
        self._events.append((when, what))

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        for when, what in [event for event in self._events if event[0] <= self.now]:
            self._events.remove((when, what))
            what()


def area_in_block(block: int) -> SharedArea:
    area = SharedArea(multiprocessing.get_context(), 1)
    area.block = block
    return area


def task_of(block: int, number: int = 5, ticket: int = 0) -> Task:
    return Task(number, block, LIVE, 0, 0, [1], (), True, 0, 0, ticket or 0, 1)
