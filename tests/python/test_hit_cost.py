"""What a sample from a shared cache costs is measured, on the machine that runs the job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader

from cachebisect._cache import hit_cost, shared_folder
from cachebisect._cache.hit_cost import LARGE, SMALL, USUAL, cost_of, measured_hit
from cachebisect._cache.store import Store
from cachebisect._chain.free import SHARED_MEMORY
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from loaders import Compose, Items, Member, Stream


def left_here() -> list[str]:
    """Folders in shared memory that this process has made."""
    mine = f"cachebisect-cache-{os.getpid()}-"
    return [name for name in os.listdir(SHARED_MEMORY) if name.startswith(mine)]


def planted(seconds: float, per_byte: float, others: dict[str, float]) -> Any:
    """Times of the usual kind, and of others that take so many times as long."""
    kinds = {USUAL: 1.0, **others}
    return {
        (kind, size): 9 * [factor * (seconds + per_byte * size)]
        for kind, factor in kinds.items()
        for size in (SMALL, LARGE)
    }


@pytest.mark.parametrize("others,within", [({}, 1), ({"a": 0.4, "b": 1.5}, 2.5), ({"a": 3.0}, 3)])
def test_cost_and_factor_are_those_that_were_planted(others: Any, within: float) -> None:
    cost = cost_of(planted(50e-6, 0.5e-9, others))
    assert cost.seconds == pytest.approx(50e-6)
    assert cost.seconds_per_byte == pytest.approx(0.5e-9)
    assert cost.within == pytest.approx(within)


def test_a_few_times_that_were_interrupted_do_not_count() -> None:
    times = planted(50e-6, 0.5e-9, {"a": 2.0})
    for values in times.values():
        values[2] = values[7] = 0.1
    assert cost_of(times) == cost_of(planted(50e-6, 0.5e-9, {"a": 2.0}))


def test_large_samples_that_take_less_cost_nothing_by_the_byte() -> None:
    times = planted(50e-6, 0.0, {})
    times[USUAL, LARGE] = 9 * [25e-6]
    cost = cost_of(times)
    assert (cost.seconds_per_byte, cost.seconds, cost.within) == (0, pytest.approx(50e-6), 2)


class Cpu:
    """A clock of the thread that runs in fetches alone: it knows what each has read."""

    def __init__(self, seconds: float, per_byte: float) -> None:
        self.now = 0.0
        self.seconds, self.per_byte = seconds, per_byte

    def __call__(self) -> float:
        return self.now

    def fetched(self, size: int) -> None:
        self.now += self.seconds + self.per_byte * size


def test_what_is_timed_is_fetching_from_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = Cpu(70e-6, 1e-9)
    get = Store.get

    def timed_get(self: Store, key: str) -> Any:
        data = get(self, key)
        cpu.fetched(len(data or b""))
        return data

    monkeypatch.setattr(Store, "get", timed_get)
    cost = measured_hit(cpu)
    assert cost is not None
    assert cost.seconds == pytest.approx(70e-6, rel=0.01)
    assert cost.seconds_per_byte == pytest.approx(1e-9, rel=0.01)
    assert 1 <= cost.within < 1.1


def test_before_each_fetch_the_caches_of_the_cpu_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu = Cpu(0.0, 0.0)
    done: list[str] = []
    fetch, take = hit_cost._fetch, hit_cost._take_cpu_caches

    def watched(*arguments: Any) -> Any:
        done.append("fetch")
        cpu.now += 1e-3
        return fetch(*arguments)

    def taken(memory: Any) -> None:
        take(memory)
        done.append(f"{len(memory) >> 20} MiB")
        cpu.now += 1.0

    monkeypatch.setattr(hit_cost, "_fetch", watched)
    monkeypatch.setattr(hit_cost, "_take_cpu_caches", taken)
    cost = measured_hit(cpu)
    assert cost is not None and cost.seconds == pytest.approx(1e-3), "the taking is not timed"
    assert len(done) > 9 and done == (len(done) // 3) * ["32 MiB", "fetch", "fetch"]


def test_it_is_measured_here_and_leaves_nothing() -> None:
    cost = measured_hit()
    assert cost is not None
    assert cost.seconds > 0 and cost.within >= 1
    assert left_here() == []


def test_it_ends_in_time_on_a_machine_that_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = count()
    fetch = hit_cost._fetch

    def counted(*arguments: Any) -> Any:
        next(fetched)
        return fetch(*arguments)

    late: Iterator[float] = count(0.0, 10.0)
    monkeypatch.setattr(hit_cost, "_fetch", counted)
    monkeypatch.setattr(hit_cost, "monotonic", lambda: next(late))
    assert measured_hit() is not None
    assert next(fetched) == 2 * 6  # Each kind and size once, and before it what is not timed.


@pytest.mark.parametrize("what", ["room", "store", "gone"])
def test_where_it_cannot_be_measured_nothing_is_raised(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "room":
        monkeypatch.setattr(shared_folder, "free_shared_memory", lambda: 1e6)
    elif what == "store":
        monkeypatch.setattr(Store, "put", lambda *_: 1 / 0)
    else:
        monkeypatch.setattr(Store, "get", lambda *_: None)
    assert measured_hit() is None
    assert left_here() == []


def test_jobs_tell_the_engine_where_a_cache_may_stand() -> None:
    described = []
    for dataset in (Items(Compose([Member()])), Stream(shards=1)):
        job = Job(DataLoader(dataset, batch_size=4), KeptState(()))
        try:
            described.append(job.describe(PassThrough(), [])["chain"])
        finally:
            job.close()
    assert described[0]["cache_hit"].keys() == {"seconds", "seconds_per_byte", "within"}
    assert "cache_hit" not in described[1]
