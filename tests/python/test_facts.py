"""What the engine is told of processes, batches and epochs, and what live arms may change."""

from __future__ import annotations

import operator
import os
import sys
import types
from typing import Any, Optional

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from cachebisect._chain import facts
from cachebisect._chain.trees import leaves
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cachebisect._library import as_measured
from job_blocks import live, run
from loaders import Compose, CountingMember, Items, Member, Stream


@pytest.fixture
def job() -> Any:
    made: list[Job] = []

    def make(loader: Any, device: Any = None) -> Job:
        made.append(Job(loader, KeptState(()), device))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("given,size", [(None, 1), (7, 7)])
def test_what_a_batch_counts_as_is_said(given: Any, size: int) -> None:
    """As detectron2 reads: one sample at a time, whose tensor's rows are no samples."""
    loader = DataLoader(Items(), collate_fn=operator.itemgetter(0))
    job = Job(loader, KeptState(()), samples_per_batch=given)
    try:
        assert job.batch_size == size
        assert any(f"counts as {given} samples" in note for note in job.chain.notes) is bool(given)
        job.fill(16, lambda _text: None)
        assert set(job._feeds.held.sizes) == {size}
    finally:
        job.close()


class WorkerFacts(Items):
    """The threads and the sharing strategy of the process that makes the sample."""

    def __getitem__(self, index: int) -> Any:
        strategy = torch.multiprocessing.get_sharing_strategy()
        return torch.tensor([torch.get_num_threads(), int(strategy == "file_system")])


def test_contents_count_what_a_worker_sends() -> None:
    boxes = [torch.zeros(n, 4) for n in range(1, 6)]
    labels = [torch.zeros(n, dtype=torch.int64) for n in range(1, 6)]
    batch = {"image": torch.zeros(5, 3, 8, 8), "boxes": boxes, "labels": labels, "names": ["a"] * 5}
    assert facts.batch_contents(batch) == {
        "objects": 5,
        "tensors": 11,
        "packed_tensors": 3,
        "bytes": pytest.approx(4 * 960 + 15 * 16 + 15 * 8 + 5, abs=400),
    }


def test_memory_of_a_process_is_read() -> None:
    assert (facts.private_bytes([os.getpid()]) or 0) > 1e6
    assert facts.private_bytes([0]) is None


def test_describe_tells_of_workers(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cv2", raising=False)  # Another test's: it has threads too.
    loader = DataLoader(Items(), batch_size=4, num_workers=2, persistent_workers=True)
    chain = job(loader).describe(PassThrough(), [])["chain"]
    assert chain["worker_threads"] == 1
    assert chain["worker_bytes"] > 1e5
    assert chain["persistent_workers"] is True
    assert chain["batch_contents"]["tensors"] == 2
    assert chain["local_ranks"] == 1


def test_without_workers_nothing_is_sent(job: Any) -> None:
    chain = job(DataLoader(Items(), batch_size=4)).describe(PassThrough(), [])["chain"]
    assert "batch_contents" not in chain and "worker_bytes" not in chain


def test_workers_that_deliver_nothing_are_counted(job: Any) -> None:
    stream = job(DataLoader(Stream(shards=1), batch_size=4, num_workers=3))
    assert stream.fill(24, lambda _text: None)["idle_workers"] == 2
    items = job(DataLoader(Items(), batch_size=4, num_workers=2))
    assert items.fill(8, lambda _text: None)["idle_workers"] == 0


def test_live_arms_change_workers(job: Any) -> None:
    measured = job(DataLoader(WorkerFacts(), batch_size=4, num_workers=1))
    assert run(measured, live())[0][0].tolist() == [1, 0]
    for overrides, expected in [
        ({"worker_threads": "2"}, [2, 0]),
        ({"sharing_strategy": '"file_system"'}, [1, 1]),
        ({"num_workers": "2", "prefetch_factor": "1"}, [1, 0]),
        ({"multiprocessing_context": '"forkserver"'}, [1, 0]),
    ]:
        assert measured.supports(live(**overrides))
        assert run(measured, live(**overrides))[0][0].tolist() == expected
    assert not measured.supports(live(batch_size="8"))
    assert not measured.supports(live(non_blocking="true"))  # There is no other device.


def test_a_cache_serves_live_arms_without_the_stages_before_it(job: Any) -> None:
    measured = job(DataLoader(Items(Compose([Member(1), CountingMember()]), 40), batch_size=4))
    names = {s["name"]: s for s in measured.describe(PassThrough(), [])["settings"]}
    assert names["cache"]["values"] == {"words": ["transforms[0]", "transforms[1]", "sample"]}
    arm = live(cache='"transforms[0]"')
    assert measured.supports(arm)
    assert len(run(measured, arm)[0][0]) == 4
    assert not measured.supports(live(cache='"transforms[1]"'))  # Another sample every time.
    assert not measured.supports(live(cache='"transforms[2]"'))
    assert measured.supports(live(cache='"transforms[0]"', num_workers="1"))


def test_a_stream_cannot_be_cached(job: Any) -> None:
    measured = job(DataLoader(Stream(shards=1), batch_size=4))
    described = measured.describe(PassThrough(), [])["settings"]
    assert all(setting["name"] != "cache" for setting in described)


def test_non_blocking_moves_the_batch_before_the_step(job: Any) -> None:
    measured = job(DataLoader(Items(), batch_size=4, num_workers=1), torch.device("meta"))
    assert measured.supports(live(non_blocking="true"))
    batch = run(measured, live(non_blocking="true"))[0]
    assert batch[0].device.type == "meta"


def test_the_start_of_an_epoch_includes_making_the_iterator(monkeypatch: Any) -> None:
    now = 100.0
    clock = types.SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr("cachebisect._job.pass_through.time", clock)

    def batches() -> Any:
        nonlocal now
        now += 0.5
        yield torch.zeros(4)

    passed = PassThrough(opened_seconds=2.0)
    assert passed.epoch_start_seconds() is None
    passed.next_batch(batches())
    assert passed.epoch_start_seconds() == 2.5


def test_batches_at_the_last_boundary_are_on_the_device_of_the_step() -> None:
    # Tensors on meta have no data: the one device that every machine has.
    job = Job(DataLoader(Items(), batch_size=4), KeptState(()), torch.device("meta"))
    try:
        assert job.chain.stages[-1].name == "copy"
        described = job.describe(PassThrough(), [])["chain"]
        assert (described["device_kind"], described["device_name"]) == ("cpu", "meta")
        sizes = job.sizes(8, lambda text: None)
        assert sizes["device_free_bytes"] is None
        last = {**live(), "kind": "replay", "boundary": job.chain.last}
        before = {**last, "boundary": job.chain.last - 1}
        moved = {tensor.device.type for batch in run(job, last) for tensor in leaves(batch)}
        assert moved == {"meta"}
        left = {tensor.device.type for batch in run(job, before) for tensor in leaves(batch)}
        assert left == {"cpu"}
    finally:
        job.close()


class Repeated:
    def __init__(self, times: int) -> None:
        self.times = times

    def __call__(self, x: Any) -> Any:
        return x.repeat(self.times)


@pytest.mark.parametrize("workers", [0, 1])
def test_the_bytes_of_a_boundary_are_those_of_the_stage_before_it(workers: int) -> None:
    dataset = Items(Compose([Repeated(100), Repeated(10), Repeated(2)]))
    job = Job(DataLoader(dataset, batch_size=4, num_workers=workers), KeptState(()))
    try:
        names = ["", *(stage.name for stage in job.chain.stages)]
        sizes = dict(zip(names, job.sizes(8, lambda text: None)["item_bytes"]))
        assert sizes["transforms[0] Repeated"] == 16 * 100
        assert sizes["transforms[1] Repeated"] == 16 * 1000
        assert 16 * 2000 <= sizes["transforms[2] Repeated"] < 16 * 2100  # With the label.
        assert sizes["read Items.__getitem__"] < 16 * 10
    finally:
        job.close()


def test_a_device_whose_steps_cannot_be_timed_is_refused() -> None:
    with pytest.raises(ValueError, match="steps on xpu cannot be timed"):
        Job(DataLoader(Items(), batch_size=4), KeptState(()), torch.device("xpu"))


class Doubled(DataLoader):  # type: ignore[type-arg]
    """As a prepared loader of accelerate: what the loop gets is made in __iter__."""

    def __iter__(self) -> Any:
        for x, y in super().__iter__():
            yield 2 * x, y


class Wrapped(DataLoader):  # type: ignore[type-arg]
    """As PyG's NodeLoader."""

    def _get_iterator(self) -> Any:
        return ({"x": x} for x, _ in super()._get_iterator())


def test_a_subclass_that_makes_its_batches_is_measured_as_it_iterates() -> None:
    plain = DataLoader(Items(), batch_size=4)
    assert as_measured(plain) is plain
    doubled = Job(as_measured(Doubled(Items(), batch_size=4, num_workers=1)), KeptState(()))
    wrapped = Job(as_measured(Wrapped(Items(), batch_size=4)), KeptState(()))
    for job, name in ((doubled, "loader Doubled"), (wrapped, "loader Wrapped")):
        try:
            assert [stage.name for stage in job.chain.stages] == [name]
            assert "makes its batches in its own iterator" in job.chain.notes[0]
            job.fill(8, lambda _text: None)
        finally:
            job.close()
    assert doubled.workers == 1 and doubled.describe(PassThrough(), [])["chain"]["samples"] == 64


def test_an_epoch_of_a_rank_is_what_its_sampler_gives() -> None:
    data = TensorDataset(torch.zeros(20, 1))

    def epoch(**arguments: Any) -> Optional[int]:
        loader = DataLoader(data, batch_size=8, **arguments)
        return facts.epoch_samples_of(loader, 8)

    assert epoch() == 20
    assert epoch(drop_last=True) == 16
    half = DistributedSampler(data, num_replicas=2, rank=0)
    assert epoch(sampler=half, drop_last=True) == 8
    assert epoch(sampler=iter([1, 2, 3])) is None  # It has no length.
    assert facts.epoch_samples_of([torch.zeros(4)], 4) is None
    assert facts.epoch_samples_of(DataLoader(Stream(4)), 1) is None
