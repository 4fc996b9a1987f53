"""Stages of samples that run on the device, for whole batches: `transforms[2]=device`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset, default_collate

from cachebisect._chain import trees
from cachebisect._job.job import Job
from cachebisect._job.on_device import DeviceStages, _with_output
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from job_blocks import live, run
from loaders import Compose


class Halved:
    """Element-wise: the same for a batch as for each sample."""

    def __call__(self, image: Any) -> Any:
        return image / 2


class Shifted:
    """In place, as Normalize(inplace=True)."""

    def __call__(self, image: Any) -> Any:
        return image.sub_(image.new_tensor([1.0, 2.0])[:, None, None])


class Centred:
    """By the mean of what it gets: another one for a batch."""

    def __call__(self, image: Any) -> Any:
        return image - image.mean()


class Jitter:
    def __call__(self, image: Any) -> Any:
        return image + torch.rand(1)


class Blank:
    """Makes the image of an index."""

    def __call__(self, index: int) -> Any:
        return torch.full((2, 3, 3), float(index))


class Images(Dataset):  # type: ignore[type-arg]
    def __init__(self, *members: Any) -> None:
        self.transform = Compose([Blank(), *members])

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return {"image": self.transform(index), "label": index}


class Doubled(Images):
    """Its own code works on what the last stage gives."""

    def __getitem__(self, index: int) -> Any:
        return {"image": self.transform(index) * 2, "label": index}


class Photos(Dataset):  # type: ignore[type-arg]
    """PIL images, as torchvision's datasets have them."""

    def __init__(self) -> None:
        transforms = pytest.importorskip("torchvision.transforms")
        normalize = transforms.Normalize([0.5] * 3, [0.25] * 3)
        self.transform = transforms.Compose([self.drawn, transforms.ToTensor(), normalize])

    def __len__(self) -> int:
        return 12

    def drawn(self, index: int) -> Any:
        image = pytest.importorskip("PIL.Image").new("RGB", (4, 4))
        image.putdata([(16 * index, 4 * x, 255 - x) for x in range(16)])
        return image

    def __getitem__(self, index: int) -> Any:
        return self.transform(index), index


def plan(loader: Any) -> tuple[str, ...]:
    job = Job(loader, KeptState(()))
    try:
        return job.chain.plan
    finally:
        job.close()


def both(loader: Any, first: str) -> tuple[Any, Any, Any]:
    """The first batch as it is; without the stages; and with them on the device."""
    stages = DeviceStages(loader, plan(loader), first)
    part = stages.host_part(loader.dataset)
    as_it_is = default_collate([loader.dataset[i] for i in range(4)])
    left = default_collate([part[i] for i in range(4)])
    return as_it_is, left, stages.run(trees.clone(left))


@pytest.mark.parametrize("first", ["transforms[1]", "transforms[2]"])
def test_a_batch_is_what_its_samples_are(first: str) -> None:
    loader = DataLoader(Images(Halved(), Shifted()), batch_size=4)
    as_it_is, left, batch = both(loader, first)
    assert torch.equal(batch["image"], as_it_is["image"])
    assert torch.equal(batch["label"], as_it_is["label"])
    assert not torch.equal(left["image"], as_it_is["image"])
    assert loader.dataset[3]["image"][0, 0, 0] == 0.5  # The dataset itself is as it was.


def test_bytes_are_sent_where_a_stage_makes_floats_of_an_image() -> None:
    loader = DataLoader(Photos(), batch_size=4)
    as_it_is, left, batch = both(loader, "transforms[1]")
    assert left[0].dtype == torch.uint8 and as_it_is[0].dtype == torch.float32
    assert isinstance(batch, list) and torch.equal(batch[0], as_it_is[0])


@pytest.mark.parametrize(
    "dataset,first,why",
    [
        (Images(Centred()), "transforms[1]", "do not give for a batch"),
        (Images(Halved()), "transforms[7]", "no stage"),
        (Doubled(Halved()), "transforms[1]", "does not hold the output"),
        (Images(Halved()), "transforms[0]", "fail for a batch"),
    ],
)
def test_what_cannot_be_moved_is_refused(dataset: Any, first: str, why: str) -> None:
    loader = DataLoader(dataset, batch_size=4)
    with pytest.raises(Exception, match=why):
        DeviceStages(loader, plan(loader), first)


def test_only_what_runs_last_and_draws_nothing_is_offered() -> None:
    loader = DataLoader(Images(Halved(), Jitter(), Halved(), Shifted()), batch_size=4)
    job = Job(loader, KeptState(()), torch.device("meta"))
    try:
        settings = {s["name"]: s for s in job.describe(PassThrough(), [])["settings"]}
        assert settings["on_device"]["values"] == {"words": ["transforms[3]", "transforms[4]"]}
        assert not job.supports(live(on_device='"transforms[1]"'))
        assert job.supports(live(on_device='"transforms[3]"'))
    finally:
        job.close()


def test_without_a_device_nothing_is_offered() -> None:
    job = Job(DataLoader(Images(Halved()), batch_size=4), KeptState(()))
    try:
        names = [s["name"] for s in job.describe(PassThrough(), [])["settings"]]
        assert "on_device" not in names
        assert not job.supports(live(on_device='"transforms[1]"'))
    finally:
        job.close()


@pytest.mark.parametrize(
    "workers,overrides",
    [
        (0, {"on_device": '"transforms[1]"'}),
        (1, {"on_device": '"transforms[1]"'}),
        (0, {"on_device": '"transforms[2]"', "cache": '"transforms[1]"'}),
    ],
)
def test_a_live_arm_trains_on_the_same_batches(
    workers: int, overrides: Any, monkeypatch: Any
) -> None:
    loader = DataLoader(Images(Halved(), Shifted()), batch_size=4, num_workers=workers)
    job = Job(loader, KeptState(()), torch.device("meta"))
    # A device with values: what takes its place on this machine is the CPU.
    monkeypatch.setattr(job._live, "device", torch.device("cpu"))
    try:
        assert job.supports(live(**overrides))
        for batch in run(job, live(**overrides)):
            expected = torch.stack([loader.dataset[int(i)]["image"] for i in batch["label"]])
            assert torch.equal(batch["image"], expected)
    finally:
        job.close()


class Pair(NamedTuple):
    image: Any
    label: Any


@pytest.mark.parametrize(
    "batch,path",
    [
        (Pair(torch.ones(2), 1), (0,)),
        ((1, [torch.ones(2)]), (1, 0)),
        (OrderedDict(image=torch.ones(2)), ("image",)),
    ],
)
def test_a_batch_keeps_its_types(batch: Any, path: tuple[Any, ...]) -> None:
    changed = _with_output(batch, path, [lambda x: x + 1])
    assert type(changed) is type(batch)
    assert [torch.equal(leaf, torch.full((2,), 2.0)) for leaf in tensors(changed)] == [True]
    assert [torch.equal(leaf, torch.ones(2)) for leaf in tensors(batch)] == [True]


def tensors(batch: Any) -> list[Any]:
    return [leaf for leaf in trees.leaves(batch) if trees.is_tensor(leaf)]


def test_non_blocking_is_what_the_arm_says_or_the_step_does() -> None:
    job = Job(DataLoader(Images(Halved()), batch_size=4), KeptState(()), torch.device("meta"))
    job._live.non_blocking = True
    try:
        for overrides, expected in [
            ({"on_device": '"transforms[1]"'}, True),
            ({"on_device": '"transforms[1]"', "non_blocking": "false"}, False),
            ({"non_blocking": "true"}, True),
        ]:
            feed, _ = job._live.feed(live(**overrides), job._feeds)
            assert feed._non_blocking is expected  # type: ignore[attr-defined]
    finally:
        job.close()
