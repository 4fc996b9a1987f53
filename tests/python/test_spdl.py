"""The stages of a pipeline of SPDL that cachebisect.spdl_pipeline() describes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("spdl.pipeline")

from spdl.pipeline import PipelineBuilder
from spdl.pipeline.defs import Aggregator

import cachebisect
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from commands import COMMAND, needs_command
from job_blocks import run
from node_blocks import bypass, described, numbers, replay

BATCH = 4
STAGES = [
    "source range",
    "pipe load",
    "pipe double (concurrency 2)",
    "aggregate(4)",
    "pipe collate",
]


class Calls:
    """Counts the calls of each function."""

    def __init__(self) -> None:
        self.loaded = self.doubled = self.collated = 0
        self._lock = threading.Lock()

    def load(self, number: int) -> Any:
        self.loaded += 1
        return torch.full((4,), float(number))

    def double(self, item: Any) -> Any:
        with self._lock:
            self.doubled += 1
        return item * 2

    def collate(self, items: Any) -> Any:
        self.collated += 1
        return torch.stack(items)

    def pipeline(self, count: int = 64) -> Any:
        builder = PipelineBuilder().add_source(range(count)).pipe(self.load)
        builder = builder.pipe(self.double, concurrency=2, output_order="input")
        builder = builder.aggregate(BATCH, drop_last=True).pipe(self.collate).add_sink(2)
        return cachebisect.spdl_pipeline(builder, num_threads=2)


def threads_of_spdl() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("spdl_event")]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    for _ in range(200):
        if not threads_of_spdl():
            break
        time.sleep(0.05)
    assert threads_of_spdl() == []


def test_it_gives_the_batches_of_the_pipeline_again_and_again() -> None:
    pipeline = Calls().pipeline(10)
    for _ in range(2):
        assert numbers(list(pipeline)) == [[0, 2, 4, 6], [8, 10, 12, 14]]


def test_each_stage_is_one_and_each_boundary_is_replayed() -> None:
    calls = Calls()
    job = Job(calls.pipeline(), KeptState())
    try:
        names, found = described(job)
        assert names == STAGES
        kinds = [(stage["kind"], stage["type"]) for stage in found["chain"]["stages"]]
        assert kinds == [
            ("source", "read.range"), ("sample", "map.load"), ("sample", "map.double"),
            ("collate", "node.aggregate"), ("batch", "collate.collate"),
        ]  # fmt: skip
        assert {arm["kind"]: [*arm.values()][1] for arm in found["arms"]} == {
            "replay": list(range(6)),
            "bypass": list(range(1, 6)),
        }
        assert any("run at the same time, in threads" in note for note in found["notes"])
        job.fill(8 * BATCH, lambda _: None)
        assert job.cached_samples == 8 * BATCH
        whole = numbers(run(job, replay(5)))
        for boundary in range(5):
            for batch in numbers(run(job, replay(boundary))):
                assert len(batch) == BATCH and all(value % 2 == 0 for value in batch), boundary
        assert all(len(batch) == BATCH for batch in whole)
        for stage in range(1, 6):
            for batch in numbers(run(job, bypass(stage))):
                assert len(batch) == BATCH, stage
    finally:
        job.close()


def test_stages_before_a_boundary_do_not_run_and_bypassed_ones_neither() -> None:
    calls = Calls()
    job = Job(calls.pipeline(), KeptState())
    try:
        described(job)
        job.fill(8 * BATCH, lambda _: None)
        before = calls.loaded
        run(job, replay(2))
        assert calls.loaded == before and calls.doubled > 0
        doubled = calls.doubled
        run(job, bypass(3))
        assert calls.doubled == doubled and calls.loaded > before
        loaded, collated = calls.loaded, calls.collated
        run(job, bypass(5))
        assert calls.collated == collated and calls.loaded > loaded
    finally:
        job.close()


def test_what_writes_into_its_input_gets_copies() -> None:
    def write(item: Any) -> Any:
        return item.mul_(2)

    builder = PipelineBuilder().add_source(range(64)).pipe(Calls().load).pipe(write)
    builder = builder.aggregate(BATCH).pipe(torch.stack).add_sink(2)
    job = Job(cachebisect.spdl_pipeline(builder, num_threads=1), KeptState())
    try:
        described(job)
        job.fill(4 * BATCH, lambda _: None)
        for _ in range(3):
            values = [value for batch in numbers(run(job, replay(2))) for value in batch]
            assert max(values) <= 2 * 63
        assert any("writes into its input" in note for note in job._caches.notes)
    finally:
        job.close()


@pytest.mark.parametrize(
    "source,why",
    [(iter(range(1000)), "gives each item once"), (range(64), "")],
)
def test_what_cannot_be_opened_up_is_one_stage(source: Any, why: str) -> None:
    builder = PipelineBuilder().add_source(source).pipe(Calls().load).aggregate(BATCH)
    builder = builder.pipe(torch.stack).add_sink(2)
    if not why:
        builder = PipelineBuilder().add_source(source, continuous=True).pipe(Calls().load)
        builder = builder.add_sink(2)
        why = "its source is continuous"
    job = Job(cachebisect.spdl_pipeline(builder, num_threads=1), KeptState())
    try:
        names, found = described(job)
        assert len(names) == 1
        assert any(why in note for note in found["notes"])
    finally:
        job.close()


def test_an_aggregator_that_cannot_be_copied_is_used_as_it_is() -> None:
    class Locked(Aggregator):  # type: ignore[misc]
        def __init__(self) -> None:
            self._lock = threading.Lock()

        def accumulate(self, item: Any) -> Any:
            return torch.stack([item] * BATCH)

        def flush(self) -> Any:
            return None

    builder = PipelineBuilder().add_source(range(8)).pipe(Calls().load).aggregate(Locked())
    pipeline = cachebisect.spdl_pipeline(builder.add_sink(2), num_threads=1)
    assert "cannot be copied" in pipeline.why_not
    assert len(list(pipeline)) == 8


def test_a_pipeline_that_was_built_is_refused() -> None:
    with pytest.raises(TypeError, match="a Pipeline that was built does not tell its stages"):
        cachebisect.spdl_pipeline([1, 2], num_threads=1)


@needs_command
def test_the_library_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    report = cachebisect.bisect(
        Calls().pipeline(4000), step, state=[model, optimizer], budget=8, progress=False
    )
    stages = [stage["name"] for stage in report.to_dict()["stages"]]
    assert stages == STAGES
