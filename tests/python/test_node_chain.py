"""A torchdata.nodes pipeline: its members are stages, each boundary between them is replayed, and
the script's own nodes are left as they are."""

from __future__ import annotations

import collections
import io
import json
import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nodes = pytest.importorskip("torchdata.nodes")

import cachebisect
from cachebisect._chain.node_graph import graph_of
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from commands import COMMAND, needs_command
from commands import run_script as run_command
from hooked import run_in_fork, run_script
from job_blocks import live, run
from node_pipeline import BATCH, MEMBERS, Calls, Shuffler
from test_continue import without_measured_steps
from test_iterator import every_boundary, name


def replay(boundary: int) -> dict[str, Any]:
    return {**live(), "kind": "replay", "boundary": boundary}


def bypass(stage: int) -> dict[str, Any]:
    return {**live(), "kind": "bypass", "stage": stage}


def described(job: Job) -> tuple[list[str], dict[str, Any]]:
    """The names of the stages, and all that is described."""
    found = job.describe(PassThrough(), [])
    return [stage["name"] for stage in found["chain"]["stages"]], found


def numbers(batches: list[Any]) -> list[list[float]]:
    return [[float(row[0]) for row in batch] for batch in batches]


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
    monkeypatch.setattr("cachebisect._job.node_arms._MOST_THREADS", 5)
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


class Position:
    """Has a position that a checkpoint keeps."""

    def __iter__(self) -> Iterator[float]:
        return iter([float(number) for number in range(400)])

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


class WithQueue(Shuffler):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.queue: Any = queue.Queue()


class WithThread(Shuffler):
    """Has none before it is begun."""

    def reset(self, initial_state: Any = None) -> None:
        super().reset(initial_state)
        self.thread = threading.Thread(target=print)


class Closing(Shuffler):
    def __del__(self) -> None:
        raise AssertionError("of a copy")


class Hiding(Shuffler):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.held = {"all": [source]}


class WithTrouble(Shuffler):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.made_once = iter([1])

    def next(self) -> Any:
        next(self.made_once, None)
        return super().next()


@pytest.mark.parametrize(
    "source,why",
    [
        (lambda: nodes.IterableWrapper(float(n) for n in range(400)), "gives each item once"),
        (lambda: nodes.IterableWrapper(Position()), "Position keeps its position itself"),
        (lambda: WithQueue(nodes.IterableWrapper([1.0] * 400)), "threads or queues of its own"),
        (lambda: WithThread(nodes.IterableWrapper([1.0] * 400)), "threads or queues of its own"),
        (lambda: Hiding(nodes.IterableWrapper([1.0] * 400)), "inside of its attribute held"),
        (lambda: nodes.IterableWrapper(nodes.Loader(nodes.IterableWrapper([1.0] * 400))), "keeps"),
        (lambda: WithTrouble(nodes.IterableWrapper([1.0] * 400)), "a copy of them fails: TypeErr"),
    ],
)
def test_what_cannot_be_opened_anew_is_measured_as_a_whole(source: Any, why: str) -> None:
    loader = nodes.Loader(nodes.Mapper(nodes.Batcher(source(), BATCH), torch.tensor))
    job = Job(loader, KeptState())
    try:
        names, found = described(job)
        assert names == ["loader Loader"]
        [note] = [note for note in found["notes"] if "members" in note]
        assert why in note and note.startswith("the members of Loader are not measured one by one")
        job.fill(2 * BATCH, lambda _: None)
        assert len(run(job, replay(0))) == len(run(job, replay(1)))
    finally:
        job.close()


def test_no_copy_is_made_of_what_ends_something_when_it_is_deleted() -> None:
    node = object.__new__(Closing)
    try:
        Shuffler.__init__(node, nodes.IterableWrapper(range(4)))
        graph = graph_of(nodes.Loader(node))
        assert graph is not None and "__del__" in graph.why_not
    finally:
        node.__class__ = Shuffler


class Buckets(nodes.BaseNode):  # type: ignore[misc,name-defined]
    """Keeps what it has; `next` and `get_state` of its source are called as they are."""

    def __init__(self, source: Any) -> None:
        super().__init__()
        self.source = source
        self.buckets: Any = collections.defaultdict(list)
        self.seen = torch.zeros(1)

    def reset(self, initial_state: Any = None) -> None:
        super().reset(initial_state)
        self.source.reset(None)
        for bucket in self.buckets.values():
            bucket.clear()

    def next(self) -> Any:
        while True:
            item = self.source.next()
            self.seen += 1
            bucket = self.buckets[item % 2]
            bucket.append(item)
            if len(bucket) == BATCH:
                given = list(bucket)
                bucket.clear()
                return given

    def get_state(self) -> Any:
        return {"source": self.source.get_state()}


def test_a_node_that_changes_what_it_holds_is_left_as_it_is() -> None:
    node = Buckets(nodes.Mapper(nodes.IterableWrapper(range(400)), float))
    loader = nodes.Loader(nodes.Prefetcher(nodes.Mapper(node, torch.tensor), 1))
    own = iter(nodes.Loader(nodes.Mapper(node, torch.tensor)))
    assert next(own).tolist() == [0.0, 2.0, 4.0, 6.0]
    job = Job(loader, KeptState())
    try:
        names, _ = described(job)
        assert names[:3] == ["IterableWrapper range", "Mapper float", "Buckets"]
        job.fill(8 * BATCH, lambda _: None)
        for boundary in range(len(names) + 1):
            assert all(len(batch) == BATCH for batch in run(job, replay(boundary))), boundary
    finally:
        job.close()
    assert dict(node.buckets) == {0.0: [], 1.0: [1.0, 3.0, 5.0]} and int(node.seen) == 7
    assert next(own).tolist() == [1.0, 3.0, 5.0, 7.0]


def test_copies_do_not_call_a_function_at_the_same_time() -> None:
    """What one thread of the script calls need not be thread safe."""
    lock = threading.Lock()
    refused: list[float] = []

    def alone(item: Any) -> Any:
        if not lock.acquire(blocking=False):
            refused.append(item)
            return float(item)
        try:
            time.sleep(0.002)
            return float(item)
        finally:
            lock.release()

    node = nodes.Mapper(nodes.Prefetcher(nodes.IterableWrapper(range(4000)), 8), alone)
    node = nodes.Mapper(nodes.Batcher(node, BATCH), torch.tensor)
    job = Job(nodes.Loader(nodes.Prefetcher(node, 4)), KeptState())
    try:
        names, _ = described(job)
        for _ in range(2):
            job.fill(4 * BATCH, lambda _: None)
            for boundary in range(len(names)):
                run(job, replay(boundary))
    finally:
        job.close()
    assert refused == []


def test_no_thread_of_several_sources_is_left() -> None:
    each = {key: nodes.Prefetcher(nodes.IterableWrapper([float(key)] * 40), 2) for key in "12"}
    node = nodes.MultiNodeWeightedSampler(each, {"1": 0.5, "2": 0.5})
    node = nodes.Prefetcher(nodes.Mapper(nodes.Batcher(node, BATCH), torch.tensor), 2)
    threads = threading.active_count()
    job = Job(nodes.Loader(node), KeptState())
    try:
        names, _ = described(job)
        job.fill(4 * BATCH, lambda _: None)
        for boundary in range(len(names)):
            run(job, replay(boundary))
    finally:
        job.close()
    assert threading.active_count() == threads


def test_nothing_else_is_taken_for_such_a_loader() -> None:
    class Doubled(nodes.Loader):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Any:
            return (batch * 2 for batch in super().__iter__())

    whole = Calls().loader()
    assert graph_of(whole) is not None and graph_of(iter(whole)) is not None
    for other in (Doubled(whole.root), whole.root, [1], None, iter([1]), torch.nn.Linear(1, 1)):
        assert graph_of(other) is None


SCRIPT = f"""
import json, random, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import torch
from torch.utils.data import RandomSampler
from torchdata.nodes import Loader, SamplerWrapper
from node_pipeline import Calls

torch.manual_seed(1)
random.seed(1)
class Noise:
    def __init__(self):
        self.draws, self.count = random.Random(5), 0

    def __call__(self, item):
        self.count += 1
        return item + self.draws.choice([0, 2]) + self.count % 7 * 4

calls = Calls(noise=Noise())
generator = torch.Generator().manual_seed(2)
loader = calls.loader(SamplerWrapper(RandomSampler(range(180), generator=generator)))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
seen = []
for epoch in range(EPOCHS):
    for x in loader:
        seen.append(sorted(x[:, 0].tolist()))
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
print(json.dumps([model.weight.tolist(), torch.rand(1).item(), random.random(), seen]))
"""
"""Which items a batch has depends on the buffer; their order, on two threads, does not."""


def test_training_goes_on_as_if_nothing_had_been(monkeypatch: Any, tmp_path: Any) -> None:
    found: list[Any] = []
    name(monkeypatch, "torchdata.nodes:Loader")
    script = SCRIPT.replace("EPOCHS", "4")
    done = run_script(tmp_path, lambda engine: found.extend(every_boundary(engine)), script)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(), untouched.pop()
    assert without_measured_steps(*orders) == orders[1]
    assert measured == untouched
    assert found[0] == [
        "SamplerWrapper RandomSampler", MEMBERS[1], "Mapper Noise", *MEMBERS[2:],
    ]  # fmt: skip
    assert not any("cannot be opened twice" in note for note in found[1])


def test_a_script_that_ends_is_measured(monkeypatch: Any, tmp_path: Any) -> None:
    name(monkeypatch, "torchdata.nodes:Loader", "exit")
    script = SCRIPT.replace("EPOCHS", "100")
    done = run_script(tmp_path, lambda engine: every_boundary(engine, "exit"), script)
    assert (done.returncode, done.stdout) == (7, ""), done.stderr


SLOW = """
import time
import torch
from torchdata.nodes import *

def read(index):
    return torch.full((4,), float(index))

def augment(item):
    time.sleep(0.005)
    return item + 1

node = ParallelMapper(IterableWrapper(range(4000)), read, num_workers=2)
node = Batcher(Mapper(node, augment), 4)
loader = Loader(Prefetcher(Mapper(node, torch.stack), 2))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
for epoch in range(1000):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


def report_of(monkeypatch: Any, tmp_path: Any) -> Any:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "torchdata.nodes:Loader")
    run = run_command(tmp_path, SLOW, options=("--budget", "20", "--sustain", "0"))
    assert run.end() == 0, run.errors()
    assert "Traceback" not in run.errors()
    return run.report()


@needs_command
def test_members_are_stages_of_the_report(monkeypatch: Any, tmp_path: Any) -> None:
    names = [stage["name"] for stage in report_of(monkeypatch, tmp_path)["stages"]]
    assert "Mapper augment" in names and "Batcher 4" in names


@pytest.mark.nightly
@needs_command
def test_the_verdict_names_a_slow_member(monkeypatch: Any, tmp_path: Any) -> None:
    """It takes 20 ms of each batch, and all else a fiftieth of that."""
    verdict = report_of(monkeypatch, tmp_path)["verdict"]
    assert verdict["stage"] == "Mapper augment", verdict


@needs_command
def test_the_library_call_leaves_the_loader_where_it_was(monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))
    generator = torch.Generator().manual_seed(2)
    sampler = torch.utils.data.RandomSampler(range(400), generator=generator)
    loader = Calls(collate=0.01).loader(nodes.SamplerWrapper(sampler))
    own = iter(loader)
    first = numbers([next(own)])
    state, draws = loader.state_dict(), generator.get_state()
    report = cachebisect.bisect(loader, lambda _: None, budget=20, progress=False)
    assert report.exit_code == 0 and "Mapper collate" in json.dumps(report.to_dict())
    assert loader.state_dict() == state and bool((generator.get_state() == draws).all())
    values = [value for batch in [*first, *numbers(list(own))] for value in batch]
    assert sorted(values) == [2.0 * number for number in range(400)]
