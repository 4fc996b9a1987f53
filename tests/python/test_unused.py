"""Batches without what the step never reads: `unused=drop`."""

from __future__ import annotations

from collections import UserDict, namedtuple
from typing import Any

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from torch.utils.data import DataLoader, Dataset, default_collate

from cachebisect._chain.tree_sizes import nbytes
from cachebisect._chain.use_watch import Unused, line_without
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cachebisect._worker.left_out import Gone, StandIns, WithoutUnused
from job_blocks import live, run

BATCH, IMAGE, DEPTH = 4, 1_000, 100_000
DROP = {"unused": '"drop"'}


class Fields(Dataset):  # type: ignore[type-arg]
    def __init__(self, kind: str = "dict") -> None:
        self.kind = kind

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> Any:
        image, depth = torch.full((IMAGE,), index % 250).byte(), torch.full((DEPTH // 4,), 0.5)
        if self.kind == "tuple":
            return image, depth, index
        if self.kind == "nested":
            return {"image": image, "target": {"depth": depth, "label": index}}
        return {"image": image, "depth": depth, "label": index}


def own_collate(samples: list[Any]) -> Any:
    return default_collate(samples)


class Passed(PassThrough):
    """Steps that never read the tensor of a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def unused(self) -> list[Unused]:
        return [Unused(self._name, BATCH * DEPTH)]


def job_of(dataset: Any, name: str, **arguments: Any) -> tuple[Job, dict[str, Any]]:
    """A job whose step never reads what the name says, and what it tells the engine."""
    loader = DataLoader(dataset, batch_size=BATCH, num_workers=1, **arguments)
    job = Job(loader, KeptState(()))
    return job, job.describe(Passed(name), [])


def without(names: list[str], samples: list[Any], collate_fn: Any = default_collate) -> Any:
    return WithoutUnused(collate_fn, names)(samples)


def kinds(batch: Any) -> Any:
    """The batch with the type, or the size that a Gone stands for, in place of each part."""
    if isinstance(batch, dict):
        return {key: kinds(value) for key, value in batch.items()}
    if isinstance(batch, list):
        return [kinds(value) for value in batch]
    return (batch.dtype, batch.dims) if isinstance(batch, Gone) else "there"


GONE = (torch.float32, (BATCH, DEPTH // 4))


@pytest.mark.parametrize("collate_fn", [default_collate, own_collate])
@pytest.mark.parametrize(
    "kind,name,expected",
    [
        ("dict", "batch['depth']", {"image": "there", "depth": GONE, "label": "there"}),
        ("tuple", "batch[1]", ["there", GONE, "there"]),
        (
            "nested", "batch['target']['depth']",
            {"image": "there", "target": {"depth": GONE, "label": "there"}},
        ),
    ],
)  # fmt: skip
def test_the_rest_of_a_batch_is_what_it_was(
    collate_fn: Any, kind: str, name: str, expected: Any
) -> None:
    samples = [Fields(kind)[index] for index in range(BATCH)]
    batch = without([name], samples, collate_fn)
    assert kinds(batch) == expected
    if kind == "dict":
        assert list(batch) == ["image", "depth", "label"]
    filled = StandIns().put_into(batch)
    whole = default_collate(samples)
    assert nbytes(filled) == nbytes(whole)
    image = filled[0] if kind == "tuple" else filled["image"]
    assert torch.equal(image, whole[0] if kind == "tuple" else whole["image"])


def test_torchs_own_function_never_sees_what_is_left_out() -> None:
    class Rough(torch.Tensor):
        """Cannot be put together."""

    depth = torch.zeros(3).as_subclass(Rough)
    seen: list[Any] = []
    samples = [{"image": torch.ones(2), "depth": depth} for _ in range(3)]
    batch = without(["batch['depth']"], samples)
    assert batch["depth"].dims == (3, 3)
    assert seen == []
    arrays = [(numpy.zeros((2, 5), numpy.float64), 1) for _ in range(3)]
    batch = without(["batch[0]"], arrays)
    assert (batch[0].dtype, batch[0].dims) == (torch.float64, (3, 2, 5))


def test_containers_keep_their_types() -> None:
    Pair = namedtuple("Pair", "image depth")
    made = Pair(torch.ones(2), torch.zeros(2))
    batch = without(["batch[1]"], [], lambda _: made)
    assert type(batch) is Pair and isinstance(batch.depth, Gone) and batch.image is made.image
    held = UserDict({"image": 1, "depth": torch.zeros(2)})
    batch = without(["batch['depth']"], [], lambda _: held)
    assert type(batch) is UserDict and isinstance(batch["depth"], Gone)
    assert torch.is_tensor(held["depth"]), "the user's own batch is not changed"


def test_a_batch_that_cannot_be_written_to_is_refused() -> None:
    class Closed(UserDict):  # type: ignore[type-arg]
        def __setitem__(self, key: Any, value: Any) -> None:
            if isinstance(value, Gone):
                raise TypeError("closed")
            super().__setitem__(key, value)

    held = Closed({"depth": torch.zeros(2)})
    with pytest.raises(ValueError, match="nothing can be left out of a Closed"):
        without(["batch['depth']"], [], lambda _: held)


def test_memory_stands_in_for_it_that_shows_whether_it_is_read() -> None:
    gone = {"depth": Gone(torch.float32, (BATCH, DEPTH // 4)), "image": torch.ones(3)}
    made = StandIns()
    first, second = made.put_into(gone), made.put_into(gone)
    assert first["depth"].shape == (BATCH, DEPTH // 4)
    assert first["depth"].data_ptr() == second["depth"].data_ptr()
    assert not made.were_read()
    assert float(made.put_into(gone)["depth"].sum()) == 0
    assert made.were_read()
    assert not made.were_read()
    small = made.put_into({"depth": Gone(torch.float32, (2, 2)), "none": Gone(torch.int64, (0, 3))})
    assert small["depth"].sum() == 0 and small["none"].shape == (0, 3)
    assert not made.were_read()  # Too small to tell.


@pytest.mark.parametrize(
    "kind,name,collate_fn,line",
    [
        ("dict", "batch['depth']", None, "del sample['depth']  # in __getitem__"),
        ("dict", "batch['depth']", own_collate, "del batch['depth']  # in collate_fn"),
        ("tuple", "batch[1]", None, "return [sample without sample[1]]  # in __getitem__"),
    ],
)
def test_a_live_arm_runs_without_it(kind: str, name: str, collate_fn: Any, line: str) -> None:
    job, described = job_of(Fields(kind), name, collate_fn=collate_fn)
    try:
        settings = {setting["name"]: setting for setting in described["settings"]}
        assert settings["unused"]["values"] == {"words": ["drop"]}
        assert settings["unused"]["code"] == described["advice"]["unused"]
        assert described["advice"]["unused"].startswith(line)
        assert job.supports(live(**DROP)), job.why
        for batch in run(job, live(**DROP)):
            image, depth, label = batch if kind == "tuple" else batch.values()
            assert image.shape == (BATCH, IMAGE) and len(label) == BATCH
            assert torch.equal(image[:, 0], label.byte())
            assert depth.shape == (BATCH, DEPTH // 4) and not depth.is_shared()
        assert job.supports(live(**DROP, num_workers="2"))
        assert run(job, live(**DROP, num_workers="2"))
    finally:
        job.close()


def test_an_arm_whose_step_reads_it_after_all_is_void_and_ends() -> None:
    job, _ = job_of(Fields(), "batch['depth']")
    try:
        assert job.supports(live(**DROP))
        block = job.begin_block({"arm": live(**DROP), "steps": 2, "warmup_steps": 1})
        while not block.enter():
            block.take()["depth"].sum()
        block.end()
        assert block.result()["void"] is True
        with pytest.raises(ValueError, match=r"the step did read batch\['depth'\] after all"):
            run(job, live(**DROP))
        assert not job.supports(live(**DROP))
        assert "after all" in job.why
        assert run(job, live())
    finally:
        job.close()


def test_without_anything_unused_there_is_no_such_arm() -> None:
    job = Job(DataLoader(Fields(), batch_size=BATCH, num_workers=1), KeptState(()))
    try:
        described = job.describe(PassThrough(), [])
        assert all(setting["name"] != "unused" for setting in described["settings"])
        assert not job.supports(live(**DROP))
        assert job.why == "the step reads all of its batches"
    finally:
        job.close()


def test_the_line_says_where() -> None:
    depth, mask = Unused("batch['depth']", 1), Unused("batch['a']['mask']", 1)
    assert line_without([depth, mask]).startswith("del batch['depth'], batch['a']['mask']  # in co")
    assert line_without([depth, mask], True).startswith("del sample['depth'], sample['a']['mask']")
    assert "batch without batch[1]" in line_without([Unused("batch[1]", 1)])
