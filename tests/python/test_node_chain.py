"""The members of a torchdata.nodes pipeline are stages, and each boundary is replayed."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nodes = pytest.importorskip("torchdata.nodes")

from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from job_blocks import run
from node_blocks import bypass, described, numbers, replay
from node_pipeline import BATCH, MEMBERS, Calls


def test_the_members_are_stages_and_those_that_work_in_advance_are_named() -> None:
    job = Job(Calls().loader(), KeptState())
    try:
        names, found = described(job)
        assert names == MEMBERS
        kinds = [stage["kind"] for stage in found["chain"]["stages"]]
        assert kinds == ["source", *["sample"] * 3, "collate", "batch", "batch"]
        types = [stage["type"] for stage in found["chain"]["stages"]]
        assert types[0] == "read.IterableWrapper" and types[-2] == "collate.collate"
        assert {arm["kind"]: [*arm.values()][1] for arm in found["arms"]} == {
            "replay": list(range(8)),
            "bypass": list(range(1, 8)),
        }
        [note] = [note for note in found["notes"] if "in advance" in note]
        assert note.startswith("ParallelMapper decode (look-ahead 4), Prefetcher (look-ahead 2): ")
    finally:
        job.close()


def test_a_dataset_a_sampler_and_copies_of_a_member_are_named() -> None:
    sampler = torch.utils.data.RandomSampler(range(400))
    node = nodes.MapStyleWrapper([torch.zeros(2)] * 400, sampler)
    node = nodes.Prefetcher(nodes.Prefetcher(nodes.Batcher(node, BATCH), 3), 3)
    job = Job(nodes.Loader(nodes.Mapper(node, torch.stack)), KeptState(), torch.device("meta"))
    try:
        assert described(job)[0] == [
            "SamplerWrapper RandomSampler", "Mapper list.__getitem__", "Batcher 4",
            "Prefetcher (look-ahead 3)", "Prefetcher (look-ahead 3) (2)", "Mapper stack", "copy",
        ]  # fmt: skip
    finally:
        job.close()


def test_each_boundary_gives_the_batches_of_live() -> None:
    job = Job(Calls().loader(), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)
        whole = numbers(run(job, replay(len(MEMBERS))))
        made = sorted(value for batch in whole for value in batch)
        assert len({*made}) == 3 * BATCH and all(value % 2 == 0 for value in made)
        for boundary in range(3, len(MEMBERS)):  # Before that, items are shuffled again.
            # A block of what has threads begins with a batch that is dropped.
            assert numbers(run(job, replay(boundary)))[:2] == whole[1:], boundary
        for boundary in (0, 1, 2):
            values = {value for batch in numbers(run(job, replay(boundary))) for value in batch}
            assert len(values) >= 3 * BATCH, boundary
        assert job.cached_samples == 8 * BATCH
    finally:
        job.close()


def test_the_boundaries_of_short_epochs_and_of_later_fills_fit_too() -> None:
    """The last items of an epoch, of which no batch is made, are no part of what is replayed."""
    node: Any = nodes.IterableWrapper(range(10))
    node = nodes.Mapper(nodes.Prefetcher(node, 7), float)
    job = Job(nodes.Loader(nodes.Mapper(nodes.Batcher(node, BATCH), torch.tensor)), KeptState())
    epoch = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
    try:
        described(job)
        for _ in range(3):
            job.fill(6 * BATCH, lambda _: None)
            for boundary in range(1, 6):
                batches = [batch.tolist() for batch in run(job, replay(boundary))]
                assert all(batch in epoch for batch in batches), (boundary, batches)
            assert run(job, replay(0))[0].tolist() in epoch
    finally:
        job.close()


@pytest.mark.parametrize("member,stage", [("read", 2), ("decode", 4), ("collate", 6)])
def test_only_the_members_behind_a_boundary_run(member: str, stage: int) -> None:
    calls = Calls()
    job = Job(calls.loader(), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)
        for boundary in range(len(MEMBERS) + 1):
            before = calls.settle()[member]
            run(job, replay(boundary))
            assert (calls.counts[member] > before) == (boundary < stage), boundary
    finally:
        job.close()


@pytest.mark.parametrize("member,stage", [("read", 2), ("decode", 4), ("collate", 6)])
def test_a_bypassed_member_alone_does_not_run(member: str, stage: int) -> None:
    calls = Calls()
    job = Job(calls.loader(), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)
        before = calls.settle()
        assert len(numbers(run(job, bypass(stage)))[0]) == BATCH
        ran = {name for name, count in calls.counts.items() if count > before[name]}
        assert ran == {"read", "decode", "collate"} - {member}
        before = calls.settle()
        run(job, bypass(len(MEMBERS)))
        assert all(count > before[name] for name, count in calls.counts.items())
    finally:
        job.close()


@pytest.mark.parametrize("member,stage", [("read", 2), ("decode", 4), ("collate", 6)])
def test_a_slow_member_is_slow_up_to_its_boundary(member: str, stage: int) -> None:
    """It waits 50 ms for a batch or sample; all else takes next to nothing."""
    job = Job(Calls(**{member: 0.05}).loader(), KeptState())

    def seconds(boundary: int) -> float:
        block = job.begin_block({"arm": replay(boundary), "steps": 3, "warmup_steps": 1})
        while not block.enter():
            block.take()
        block.end()
        return float(block.result()["seconds"])

    try:
        described(job)
        job.fill(4 * BATCH, lambda _: None)
        assert min(seconds(stage - 1) for _ in range(3)) > 0.05
        assert min(seconds(stage) for _ in range(5)) < 0.05
    finally:
        job.close()


def test_few_threads_wait_for_blocks(monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._job.group_arms._MOST_THREADS", 5)
    job = Job(Calls().loader(), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)
        run(job, replay(0))
        threads = threading.active_count()
        for _ in range(2):
            for boundary in range(1, len(MEMBERS)):
                assert len(run(job, replay(boundary))) >= 3
                assert threading.active_count() - threads <= 5
    finally:
        job.close()


def test_the_loader_is_where_it_was_and_no_thread_is_left() -> None:
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    sampler = torch.utils.data.RandomSampler(range(40), generator=generator)
    sampler.set_epoch = lambda epoch: setattr(sampler, "epoch", epoch)
    loader = Calls().loader(nodes.SamplerWrapper(sampler))
    own = iter(loader)
    first = numbers([next(own), next(own)])
    state, draws = loader.state_dict(), generator.get_state()
    threads = threading.active_count()
    job = Job(loader, KeptState())
    described(job)
    job.fill(12 * BATCH, lambda _: None)
    for boundary in range(len(MEMBERS) + 1):
        run(job, replay(boundary))
    job.close()
    assert threading.active_count() == threads
    assert loader.state_dict() == state and bool((generator.get_state() == draws).all())
    assert getattr(sampler, "epoch", None) == 0
    values = [value for batch in [*first, *numbers(list(own))] for value in batch]
    assert sorted(values) == [2.0 * number for number in range(40)]
    assert len(numbers(list(loader))) == 10


def test_what_a_node_writes_into_is_served_as_copies() -> None:
    def write(item: Any) -> Any:
        item["x"] += 1
        return item

    def made(index: Any) -> Any:
        return {"x": torch.full((2,), float(index))}

    def collate(items: Any) -> Any:
        return torch.stack([item["x"] for item in items])

    node = nodes.Mapper(nodes.Mapper(nodes.IterableWrapper(range(400)), made), write)
    job = Job(nodes.Loader(nodes.Mapper(nodes.Batcher(node, BATCH), collate)), KeptState())
    try:
        described(job)
        job.fill(BATCH, lambda _: None)
        batches = numbers(run(job, replay(2)))
        assert all(batch == batches[0] for batch in batches)
        _, found = described(job)
        assert any("writes into its input" in note for note in found["notes"])
    finally:
        job.close()


def test_items_go_to_processes_as_copies() -> None:
    """Sending moves a tensor to shared memory; the next time it would cost less."""
    node = nodes.Mapper(nodes.IterableWrapper(range(400)), float)
    node = nodes.Mapper(nodes.Batcher(node, BATCH), torch.tensor)
    node = nodes.ParallelMapper(
        node, torch.square, num_workers=1, method="process", multiprocessing_context="fork"
    )
    job = Job(nodes.Loader(node), KeptState())
    try:
        described(job)
        job.fill(4 * BATCH, lambda _: None)
        for boundary in range(6):
            first = run(job, replay(boundary))[0].sqrt().tolist()
            assert first[0] % BATCH == 0 and [n - first[0] for n in first] == [0.0, 1.0, 2.0, 3.0]
        nodes_of_job: Any = job._loader.nodes  # How it is served shows nowhere else.
        assert [cycle.copies for cycle in nodes_of_job._cycles][:4] == [False, False, False, True]
    finally:
        job.close()


def test_members_whose_items_cannot_be_kept_are_measured_with_the_next() -> None:
    def opened(index: Any) -> Any:
        return io.StringIO(str(index)), (character for character in str(index))

    def parsed(item: Any) -> Any:
        return torch.tensor([float(item[0].read()), len([*item[1]])])

    node = nodes.Mapper(nodes.Mapper(nodes.IterableWrapper(range(400)), opened), parsed)
    job = Job(nodes.Loader(nodes.Mapper(nodes.Batcher(node, BATCH), torch.stack)), KeptState())
    try:
        names, found = described(job)
        assert names[1:3] == ["Mapper opened, Mapper parsed", "Batcher 4"]
        assert any("cannot be kept and given again" in note for note in found["notes"])
        job.fill(2 * BATCH, lambda _: None)
        assert numbers(run(job, replay(1)))[0] == numbers(run(job, replay(2)))[0]
    finally:
        job.close()


def test_several_sources_are_one_stage() -> None:
    each = {key: nodes.IterableWrapper([float(key)] * 400) for key in "12"}
    node = nodes.MultiNodeWeightedSampler(each, {"1": 0.5, "2": 0.5})
    loader = nodes.Loader(nodes.Mapper(nodes.Batcher(node, BATCH), torch.tensor))
    job = Job(loader, KeptState())
    try:
        names, found = described(job)
        assert names == ["MultiNodeWeightedSampler", "Batcher 4", "Mapper tensor"]
        assert any("takes items from several nodes" in note for note in found["notes"])
        job.fill(4 * BATCH, lambda _: None)
        assert {len(batch) for b in range(4) for batch in run(job, replay(b))} == {BATCH}
    finally:
        job.close()
