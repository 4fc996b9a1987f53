"""The stages of a pipeline of Grain, without processes and with some."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
grain = pytest.importorskip("grain")

import numpy

from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from grain_pipeline import BATCH, LENGTH, STAGES, Calls
from job_blocks import run
from node_blocks import bypass, described, numbers, replay


def own_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith(("grain-", "cachebisect-close"))]


def children() -> set[int]:
    found = set()
    for task in os.listdir("/proc/self/task"):
        # A thread may have ended meanwhile.
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as file:
            found |= set(map(int, file.read().split()))
    return {pid for pid in found if b"spawn_main" in command_of(pid)}


def command_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = children()
    yield
    for _ in range(1200):
        if not own_threads() and children() <= before:
            break
        time.sleep(0.05)
    assert own_threads() == [] and children() <= before


def is_made_of(batch: list[float]) -> bool:
    """Its numbers are what the stages make."""
    wholes = [int(value) for value in batch]
    return len(batch) == BATCH and all(n % 2 == 0 and n % 8 < 6 and n < 2 * LENGTH for n in wholes)


@pytest.mark.parametrize("threads", [0, 3])
def test_each_stage_is_one_and_each_boundary_is_replayed(threads: int) -> None:
    calls = Calls()
    job = Job(calls.dataset(threads), KeptState())
    try:
        names, found = described(job)
        assert names == STAGES
        stages = found["chain"]["stages"]
        assert [(stage["kind"], stage["type"]) for stage in stages] == [
            ("source", "read.Numbers"), ("sample", "node.shuffle"), ("sample", "map.double"),
            ("sample", "map.Noise"), ("sample", "map.is_wanted"), ("collate", "collate.batch"),
        ]  # fmt: skip
        assert [stage["random"] for stage in stages] == [False, False, False, True, False, False]
        assert [stage["cacheable"] for stage in stages] == [True, True, True, False, False, False]
        assert {arm["kind"]: [*arm.values()][1] for arm in found["arms"]} == {
            "replay": list(range(7)),
            "bypass": list(range(1, 7)),
        }
        told = [note for note in found["notes"] if "3 threads for filter is_wanted" in note]
        assert len(told) == (threads > 0)
        job.fill(8 * BATCH, lambda _: None)
        assert job.cached_samples == 8 * BATCH
        for arm in (*map(replay, range(7)), *map(bypass, range(1, 7))):
            for _ in range(2):
                assert all(map(is_made_of, numbers(run(job, arm)))), arm
    finally:
        job.close()


@pytest.mark.parametrize("threads", [0, 3])
def test_what_is_served_does_not_run(threads: int) -> None:
    calls = Calls()
    job = Job(calls.dataset(threads), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)

        def runs(arm: Any) -> list[bool]:
            """Which of source, double and noise run in a block."""
            before = calls.counts()
            run(job, arm)
            return [now > then for now, then in zip(calls.counts(), before)]

        assert runs(replay(0)) == [True, True, True]
        assert runs(replay(2)) == [False, True, True]
        assert runs(replay(3)) == [False, False, True]
        assert runs(replay(4)) == [False, False, False]
        assert runs(bypass(3)) == [True, False, True]
        assert runs(bypass(4)) == [True, True, False]
        assert runs(bypass(6)) == [True, True, True]
    finally:
        job.close()


def test_random_numbers_are_drawn_anew_behind_a_boundary() -> None:
    job = Job(Calls().dataset(), KeptState())
    try:
        described(job)
        job.fill(BATCH, lambda _: None)
        seen = {tuple(batch) for _ in range(8) for batch in numbers(run(job, replay(3)))}
        assert len(seen) > 1
        assert len({tuple(batch) for batch in numbers(run(job, replay(5)))}) == 1
    finally:
        job.close()


def test_the_own_iterator_is_where_it_was() -> None:
    dataset = Calls().dataset(threads=2)
    own, alone = iter(dataset), iter(dataset)
    first = numbers([next(own) for _ in range(3)])
    state = own.get_state()
    job = Job(dataset, KeptState())
    described(job)
    job.fill(4 * BATCH, lambda _: None)
    run(job, replay(2))
    job.close()
    assert own.get_state() == state
    rest = numbers(list(itertools.islice(own, 20)))
    assert [*first, *rest] == numbers(list(itertools.islice(alone, 23)))
    own.close()
    alone.close()


def test_a_block_goes_on_with_what_the_last_one_has_left() -> None:
    """Between blocks no thread makes samples."""
    calls = Calls()
    job = Job(calls.dataset(threads=4, ahead=64), KeptState())
    try:
        described(job)
        job.fill(2 * BATCH, lambda _: None)
        run(job, replay(0))
        before = calls.counts()
        time.sleep(0.3)
        assert calls.counts() == before
    finally:
        job.close()


def test_processes_keep_what_they_have_made() -> None:
    job = Job(Calls().dataset(threads=2, processes=2), KeptState())
    try:
        names, found = described(job)
        assert names == [*STAGES, "mp_prefetch (2 processes, look-ahead 4)"], found["notes"]
        bypassed = next(arm["stages"] for arm in found["arms"] if arm["kind"] == "bypass")
        assert bypassed == list(range(1, 7))
        assert [stage["output"] for stage in found["chain"]["stages"]][4:6] == [
            "float32 [2]", "float32 [4, 2]",
        ]  # fmt: skip
        for _ in range(2):
            facts = job.fill(8 * BATCH, lambda _: None)
            assert job.cached_samples == 8 * BATCH
            assert all(8 <= size <= 64 for size in facts["item_bytes"][1:]), facts
        for _ in range(2):
            for arm in (*map(replay, range(8)), *map(bypass, bypassed)):
                assert all(map(is_made_of, numbers(run(job, arm)))), arm
        few = {**replay(6), "cache_samples": 2 * BATCH}
        for _ in range(16):  # What was made in advance, of all that is kept, comes first.
            run(job, few)
        seen = {tuple(batch) for _ in range(6) for batch in numbers(run(job, few))}
        assert 1 <= len(seen) <= 2
    finally:
        job.close()


def test_stages_behind_the_processes_run_here() -> None:
    calls = Calls()
    job = Job(calls.dataset(processes=1).map(calls.double), KeptState())
    try:
        names, found = described(job)
        assert names == [*STAGES, "mp_prefetch (1 processes, look-ahead 2)", "map double (2)"]
        assert any("a second set of processes: 1" in note for note in found["notes"])
        job.fill(4 * BATCH, lambda _: None)
        assert calls.source.reads == 0
        for boundary, runs in ((0, True), (3, True), (7, True), (8, False)):
            before = calls.doubled
            for batch in numbers(run(job, replay(boundary))):
                assert all(int(value) % 4 <= 1 for value in batch)
            assert (calls.doubled > before) == runs
        before = calls.doubled
        run(job, bypass(3))
        assert calls.doubled > before
        before = calls.doubled
        run(job, bypass(8))
        assert calls.doubled == before
    finally:
        job.close()


def test_an_iterator_that_was_given_stays_open() -> None:
    own = iter(Calls().dataset(threads=2))
    job = Job(own, KeptState())
    described(job)
    job.close()
    assert len(next(own)) == BATCH
    own.close()


def refusing(item: Any) -> Any:
    raise KeyError("none of them")


def dying(item: Any) -> Any:
    if os.environ.get("CACHEBISECT_TEST_DIES") and item[0] > 100:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def of_function(function: Any, processes: int = 0, length: int = 400) -> Any:
    data = grain.MapDataset.source(Calls(length).source).map(function)
    data = data.to_iter_dataset(grain.ReadOptions(2, 8)).batch(BATCH)
    options = grain.multiprocessing.MultiprocessingOptions(processes)
    return data.mp_prefetch(options) if processes else data


@pytest.mark.parametrize("processes", [0, 1])
def test_an_error_of_a_function_is_that_of_the_loader(processes: int) -> None:
    with pytest.raises(KeyError, match="none of them"):
        Job(of_function(refusing, processes), KeptState())


def test_an_error_in_a_block_is_raised_there_and_the_next_one_runs() -> None:
    fails = iter([False] * 60 + [True])

    def later(item: Any) -> Any:
        if next(fails, False):
            raise KeyError("later")
        return item

    job = Job(of_function(later), KeptState())
    try:
        described(job)
        job.fill(2 * BATCH, lambda _: None)
        with pytest.raises(KeyError, match="later"):
            for _ in range(20):
                run(job, replay(0))
        assert len(numbers(run(job, replay(0)))) >= 3
    finally:
        job.close()


def test_a_process_that_dies_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEBISECT_TEST_DIES", "1")
    job = Job(of_function(dying, 1), KeptState())
    try:
        described(job)
        with pytest.raises(RuntimeError, match="terminated unexpectedly"):
            for _ in range(100):
                run(job, replay(0))
    finally:
        job.close()


def test_an_empty_dataset_gives_no_batch() -> None:
    nothing = grain.MapDataset.range(10).filter(lambda _: False).to_iter_dataset().batch(BATCH)
    with pytest.raises(ValueError, match="gave no batch"):
        Job(nothing, KeptState())


@pytest.mark.parametrize("processes", [0, 2])
def test_an_endless_dataset_is_measured(processes: int) -> None:
    data = grain.MapDataset.range(10).repeat().to_iter_dataset().batch(BATCH)
    options = grain.multiprocessing.MultiprocessingOptions(processes)
    job = Job(data.mp_prefetch(options) if processes else data, KeptState())
    try:
        names, _ = described(job)
        assert names[:2] == ["source range", "batch 4"]
        job.fill(8 * BATCH, lambda _: None)
        assert len(run(job, replay(1))) >= 3
    finally:
        job.close()


class Once(grain.IterDataset):  # type: ignore[misc]
    """Reads from an iterator."""

    def __init__(self, items: Any) -> None:
        super().__init__()
        self._items = items

    def __iter__(self) -> Any:
        return _Once(self._items)


class _Once(grain.DatasetIterator):  # type: ignore[misc]
    def __init__(self, items: Any) -> None:
        super().__init__()
        self._items = items

    def __next__(self) -> Any:
        return numpy.full(2, next(self._items))

    def get_state(self) -> dict[str, Any]:
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        pass


def cached() -> Any:
    data = grain.MapDataset.range(100).to_iter_dataset()
    return grain.experimental.CacheIterDataset(data).batch(BATCH)


@pytest.mark.parametrize(
    "make,why",
    [
        (lambda: Once(itertools.count()).batch(BATCH), "gives each item once"),
        (cached, "keeps the items of its first epoch"),
    ],
)
def test_what_cannot_be_opened_up_is_one_stage(make: Any, why: str) -> None:
    job = Job(make(), KeptState())
    try:
        names, found = described(job)
        assert len(names) == 1
        assert any(why in note for note in found["notes"]), found["notes"]
    finally:
        job.close()


def test_a_stage_that_writes_into_its_input_gets_copies() -> None:
    def write(item: Any) -> Any:
        item *= 2
        return item

    job = Job(of_function(write), KeptState())
    try:
        described(job)
        job.fill(4 * BATCH, lambda _: None)
        for _ in range(3):
            values = [value for batch in numbers(run(job, replay(1))) for value in batch]
            assert max(values) < 2 * 400
        assert any("writes into its input" in note for note in job._caches.notes)
    finally:
        job.close()


def test_several_sources_are_one() -> None:
    ones = [grain.MapDataset.range(50).map(lambda n: numpy.full(2, n)) for _ in range(2)]
    data = grain.MapDataset.mix(ones).map(lambda item: item * 2).to_iter_dataset().batch(BATCH)
    job = Job(data, KeptState())
    try:
        names, found = described(job)
        assert names == ["MixedMapDataset", "map lambda", "batch 4"]
        assert any("takes items from several datasets" in note for note in found["notes"])
        job.fill(4 * BATCH, lambda _: None)
        assert len(run(job, replay(1))) >= 3
    finally:
        job.close()


class Plus(grain.transforms.Map):  # type: ignore[misc]
    def map(self, item: Any) -> Any:
        return item + 1


@pytest.mark.parametrize("workers", [0, 1])
def test_the_transformations_of_a_data_loader_are_stages(workers: int) -> None:
    calls = Calls()
    sampler = grain.samplers.IndexSampler(LENGTH, grain.sharding.NoSharding(), True, 3, 1)
    loader = grain.DataLoader(
        data_source=calls.source, sampler=sampler, worker_count=workers,
        operations=[Plus(), calls.noise, grain.transforms.Batch(BATCH)],
    )  # fmt: skip
    job = Job(loader, KeptState())
    try:
        names, found = described(job)
        expected = ["source Numbers", "map Plus", "random_map Noise", "batch 4"]
        processes = ["mp_prefetch (1 processes, look-ahead 1)"] * workers
        assert names == [*expected, *processes]
        random = [stage["random"] for stage in found["chain"]["stages"]]
        assert random == [False, False, True, False, *[False] * workers]
        job.fill(4 * BATCH, lambda _: None)
        for boundary in range(len(names) + 1):
            assert all(len(batch) == BATCH for batch in numbers(run(job, replay(boundary))))
    finally:
        job.close()
