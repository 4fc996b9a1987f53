"""A crop that runs before stages in front of it: `transforms[2]=earlier`."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.transforms import v2

from cachebisect._chain.commuting import moved, moves
from cachebisect._chain.slots import callable_name
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cachebisect._worker.reordered import ReorderedDataset, why_not_reordered
from job_blocks import live, run

FLOATS = (transforms.ToTensor(), transforms.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]))
HUE = transforms.ColorJitter(brightness=0.3, saturation=0.3, hue=0.1)
CONTRAST = transforms.ColorJitter(contrast=0.5)
CENTER = transforms.CenterCrop(9)
RANDOM = transforms.RandomCrop(9)


class Photos(Dataset):  # type: ignore[type-arg]
    """PIL images, each of its own size, from `least` pixels on."""

    def __init__(self, *members: Any, compose: Any = transforms.Compose, least: int = 20) -> None:
        self.transform = compose(list(members))
        self.least = least

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        width, height = self.least + index, self.least + 2 * index
        image = Image.new("RGB", (width, height))
        image.putdata([(x % 251, 7 * x % 256, index) for x in range(width * height)])
        return self.transform(image), index


def plan(dataset: Any) -> tuple[str, ...]:
    return tuple(
        f"transforms[{number}] {callable_name(member)}"
        for number, member in enumerate(dataset.transform.transforms)
    )


def found(*members: Any, compose: Any = transforms.Compose) -> tuple[str, ...]:
    dataset = Photos(*members, compose=compose)
    return moves(dataset, plan(dataset))


def why(dataset: Any) -> str:
    """For the last stage, before all others."""
    return why_not_reordered(dataset, plan(dataset), range(4))


def test_a_crop_goes_up_as_far_as_each_pixel_is_worked_on_by_itself() -> None:
    assert found(HUE, *FLOATS, CENTER) == ("transforms[3] before transforms[0]",)
    assert found(CONTRAST, *FLOATS, RANDOM) == ("transforms[3] before transforms[1]",)
    assert found(transforms.Resize(30), transforms.Grayscale(), CENTER) == (
        "transforms[2] before transforms[1]",
    )


def test_the_same_for_the_new_transforms() -> None:
    floats = v2.ToImage(), v2.ToDtype(torch.float32, scale=True)
    jitter = v2.ColorJitter(hue=0.1)
    assert found(*floats, v2.CenterCrop(9), compose=v2.Compose) == (
        "transforms[2] before transforms[0]",
    )
    assert found(jitter, *floats, v2.RandomCrop(9), compose=v2.Compose) == (
        "transforms[3] before transforms[0]",
    )
    assert found(v2.ColorJitter(contrast=0.1), v2.CenterCrop(9)) == ()


@pytest.mark.parametrize(
    "members",
    [
        (CENTER, *FLOATS),
        (CONTRAST, CENTER),
        (transforms.GaussianBlur(3), CENTER),
        (transforms.RandomHorizontalFlip(), CENTER),
        (*FLOATS, transforms.RandomCrop(9, padding=2)),
        (*FLOATS, transforms.RandomCrop(9, pad_if_needed=True)),
        (*FLOATS, transforms.Resize(9)),
        (*FLOATS, lambda image: image[:, :9, :9]),
    ],
)
def test_other_stages_stay_where_they_are(members: Any) -> None:
    assert found(*members) == ()


def test_members_of_other_containers_are_not_passed() -> None:
    class Two(Photos):
        def __init__(self) -> None:
            super().__init__(*FLOATS)
            self.crop = CENTER

    names = (*plan(Two()), "crop CenterCrop")
    assert moves(Two(), names) == ()
    gap = ("transforms[0] ToTensor", "transforms[2] CenterCrop")
    assert moves(Photos(*FLOATS, CENTER), gap) == ()


def test_the_stages_of_a_move_are_those_that_it_passes() -> None:
    names = plan(Photos(CONTRAST, *FLOATS, RANDOM))
    assert moved(names, "transforms[3] before transforms[1]") == names[1:]
    assert moved(names, "transforms[3] before transforms[7]") is None


@pytest.mark.parametrize(
    "members", [(*FLOATS, CENTER), (*FLOATS, RANDOM), (HUE, *FLOATS, CENTER), (HUE, RANDOM)]
)
def test_samples_are_the_same_bit_by_bit(members: Any) -> None:
    assert why(Photos(*members)) == ""


def test_samples_of_the_other_order_are_compared_not_believed() -> None:
    assert "samples differ" in why(Photos(CONTRAST, CENTER))
    assert "samples differ" in why(Photos(transforms.GaussianBlur(5, 2.0), CENTER))
    # What is smaller than the crop is padded, with zeros that Normalize would change.
    assert "samples differ" in why(Photos(*FLOATS, CENTER, least=4))
    assert "fails when it runs earlier" in why(Photos(*FLOATS, lambda image: image[:, :9, :9]))

    class Counted(Photos):
        made = 0

        def __getitem__(self, index: int) -> Any:
            self.made += 1
            return super().__getitem__(index)[0] + self.made, index

    assert "not the same each time" in why(Counted(*FLOATS, CENTER))


def test_random_numbers_go_on_from_where_they_were() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    assert why(Photos(HUE, RANDOM)) == ""
    assert torch.equal(torch.rand(2), expected)


def test_the_crop_runs_first_and_the_dataset_stays_as_it_was() -> None:
    sizes: list[Any] = []

    class Noted(transforms.ToTensor):
        def __call__(self, image: Any) -> Any:
            sizes.append(image.size)
            return super().__call__(image)

    dataset = Photos(Noted(), FLOATS[1], CENTER)
    reordered = ReorderedDataset(dataset, plan(dataset))
    own, other = dataset[5][0], reordered[5][0]
    assert torch.equal(own, other) and len(reordered) == 16
    assert sizes == [(25, 30), (9, 9)]
    assert [type(member) for member in dataset.transform.transforms] == [
        Noted, transforms.Normalize, transforms.CenterCrop,
    ]  # fmt: skip


MOVE = '"transforms[2] before transforms[0]"'


@pytest.mark.parametrize("workers", [0, 1])
def test_a_live_arm_trains_on_the_same_batches(workers: int) -> None:
    dataset = Photos(*FLOATS, CENTER)
    job = Job(DataLoader(dataset, batch_size=4, num_workers=workers), KeptState(()))
    try:
        settings = {s["name"]: s for s in job.describe(PassThrough(), [])["settings"]}
        assert settings["order"]["values"] == {"words": [MOVE.strip('"')]}
        assert job.supports(live(order=MOVE)) and job.why == ""
        for images, labels in run(job, live(order=MOVE)):
            expected = torch.stack([dataset[int(index)][0] for index in labels])
            assert torch.equal(images, expected)
    finally:
        job.close()


def test_what_changes_samples_is_refused_with_the_reason() -> None:
    job = Job(DataLoader(Photos(*FLOATS, CENTER, least=4), batch_size=4), KeptState(()))
    try:
        assert not job.supports(live(order=MOVE))
        assert "samples differ when it runs earlier" in job.why
        assert not job.supports(live(order='"transforms[1] before transforms[0]"'))
        assert "no such crop" in job.why
        assert not job.supports(live(order=MOVE, cache='"sample"'))
        assert "together with cache" in job.why
    finally:
        job.close()


def test_draws_that_come_in_another_order_are_said() -> None:
    job = Job(DataLoader(Photos(HUE, FLOATS[0], RANDOM), batch_size=4), KeptState(()))
    try:
        assert job.supports(live(order=MOVE))
        assert "drawn in another order" in job.why
    finally:
        job.close()


def test_nothing_is_offered_where_nothing_can_move() -> None:
    job = Job(DataLoader(Photos(CENTER, *FLOATS), batch_size=4), KeptState(()))
    try:
        assert "order" not in [s["name"] for s in job.describe(PassThrough(), [])["settings"]]
    finally:
        job.close()
