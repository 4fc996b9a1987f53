"""Odd nodes of torchdata pipelines: what is theirs is left as it is, and no thread is left."""

from __future__ import annotations

import collections
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nodes = pytest.importorskip("torchdata.nodes")

from cachebisect._chain.node_graph import graph_of
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from job_blocks import run
from node_blocks import described, replay
from node_pipeline import BATCH, Calls, Shuffler


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
