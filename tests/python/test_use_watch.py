"""Tensors of a batch that the step never reads, by the pages of memory that it touches."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain import use_watch
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState

BATCH = 4
IMAGE, DEPTH = 100_000, 300_000
"""Bytes of a sample."""


class Fields(Dataset):  # type: ignore[type-arg]
    def __init__(self, names: bool = True) -> None:
        self.names = names

    def __len__(self) -> int:
        return 400

    def __getitem__(self, index: int) -> Any:
        image, depth = torch.full((IMAGE,), 1).byte(), torch.full((DEPTH // 4,), 0.5)
        if not self.names:
            return image, depth, index
        return {"image": image, "depth": depth, "label": index}


def passed_through(
    step: Callable[[Any], Any], workers: int = 1, names: bool = True, ahead: int = 0
) -> PassThrough:
    """What is learnt from a loop that takes so many batches before it uses the first."""
    passed = PassThrough()
    own = iter(DataLoader(Fields(names), batch_size=BATCH, num_workers=workers))
    waiting: deque[Any] = deque()
    while True:
        batch = passed.next_batch(own)
        if batch is PassThrough.OVER:
            return passed
        waiting.append(batch)
        del batch
        if len(waiting) > ahead:
            step(waiting.popleft())


def names_of(passed: PassThrough) -> list[str]:
    return [each.name for each in passed.unused()]


def image_alone(batch: Any) -> None:
    batch["image"].sum()


def test_what_no_step_reads_is_named_with_its_share_and_the_line() -> None:
    passed = passed_through(image_alone)
    [unused] = passed.unused()
    assert unused.bytes == BATCH * DEPTH
    [note] = passed.notes()
    assert "never reads batch['depth']" in note and "300,000 of the 400,008 bytes" in note
    code = use_watch.line_without([unused]).split("  # ")[0]
    batch = {"image": 1, "depth": 2}
    exec(code, {"batch": batch})
    assert batch == {"image": 1}
    both = [use_watch.Unused(f"batch[{name!r}]", 1) for name in ("a", "b")]
    assert use_watch.line_without(both).startswith("del batch['a'], batch['b']  #")


def test_items_of_a_tuple_are_named_by_their_place() -> None:
    passed = passed_through(lambda batch: batch[0].sum(), names=False)
    [unused] = passed.unused()
    assert unused.name == "batch[1]" and "without batch[1]" in use_watch.line_without([unused])


def of_a_view(batch: Any) -> None:
    depth = batch.pop("depth")[:, :10]
    batch["image"].sum()
    batch.clear()
    depth.sum()


READS = {
    "a sum": lambda batch: (batch["image"].sum(), batch["depth"].sum()),
    "one value": lambda batch: (batch["image"].sum(), float(batch["depth"][-1, -1])),
    "a copy": lambda batch: {name: tensor.clone() for name, tensor in batch.items()},
    "an array": lambda batch: (batch["image"].sum(), batch["depth"].numpy().max()),
    "its bytes": lambda batch: (batch["image"].sum(), bytes(batch["depth"].numpy())),
    "a part of it, after the batch is gone": of_a_view,
    "written": lambda batch: (batch["image"].sum(), batch["depth"].zero_()),
}


@pytest.mark.parametrize("reads", READS.values(), ids=READS.keys())
def test_what_is_read_in_any_way_is_used(reads: Callable[[Any], Any]) -> None:
    assert names_of(passed_through(reads)) == []


@pytest.mark.parametrize("ahead", [1, 5])
def test_loops_may_take_batches_in_advance(ahead: int) -> None:
    assert names_of(passed_through(image_alone, ahead=ahead)) == ["batch['depth']"]
    assert names_of(passed_through(READS["a sum"], ahead=ahead)) == []


def test_other_strategies_of_sharing_show_the_same() -> None:
    before = torch.multiprocessing.get_sharing_strategy()
    torch.multiprocessing.set_sharing_strategy("file_system")
    try:
        assert names_of(passed_through(image_alone)) == ["batch['depth']"]
        assert names_of(passed_through(READS["a sum"])) == []
    finally:
        torch.multiprocessing.set_sharing_strategy(before)


def test_a_tensor_that_one_batch_in_many_needs_is_used() -> None:
    steps = iter(range(1000))

    def step(batch: Any) -> None:
        batch["image"].sum()
        if next(steps) >= 10:
            batch["depth"].sum()

    assert names_of(passed_through(step)) == []


def test_nothing_is_said_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names_of(passed_through(lambda batch: None)) == [], "the step is elsewhere"
    assert names_of(passed_through(image_alone, workers=0)) == [], "the batch was made here"
    assert names_of(PassThrough()) == []
    passed = passed_through(image_alone)
    passed.batches_per_step = use_watch.HELD
    assert names_of(passed) == [], "it may be read later"

    def refused(_storage: Any) -> int:
        raise PermissionError("/proc/self/pagemap")

    monkeypatch.setattr(use_watch, "touched", refused)
    assert names_of(passed_through(image_alone)) == []


def test_no_memory_is_held_afterwards() -> None:
    passed = PassThrough()
    own = iter(DataLoader(Fields(), batch_size=BATCH, num_workers=1))
    held = set()
    for _ in range(50):
        image_alone(passed.next_batch(own))
        held.add(len(passed._use._held))
    assert held == {0, 2}
    assert passed._use._held == {}
    early = PassThrough()
    for _ in range(5):
        image_alone(early.next_batch(own))
    assert early._use._held
    early.end_watching()
    assert not early._use._held
    assert names_of(early) == []


def test_a_job_tells_the_engine() -> None:
    passed = passed_through(image_alone)
    job = Job(DataLoader(Fields(), batch_size=BATCH, num_workers=1), KeptState(()))
    try:
        described = job.describe(passed, [])
        assert described["chain"]["batch_contents"]["unused_bytes"] == BATCH * DEPTH
        assert described["advice"]["unused"].startswith("del sample['depth']")
        described = job.describe(PassThrough(), [])
        assert described["chain"]["batch_contents"]["unused_bytes"] == 0
        assert "unused" not in described["advice"]
    finally:
        job.close()
