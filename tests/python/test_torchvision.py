"""Real image folders with torchvision's transforms, old and new."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from PIL import Image
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision import transforms
from torchvision.transforms import v2

from measured import every_arm, measure, stage_names


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    root = tmp_path_factory.mktemp("images")
    for label in ("a", "b"):
        (root / label).mkdir()
        for number in range(12):
            image = Image.new("RGB", (40, 30), (number * 20, 0, 0))
            image.save(root / label / f"{number}.png")
    return root


class Opened(Dataset):  # type: ignore[type-arg]
    """Opens its images inline."""

    def __init__(self, root: Any, transform: Any) -> None:
        self.files = sorted(root.glob("*/*.png"))
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        image = Image.open(str(self.files[index]))
        return self.transform(image.convert("RGB"))


V1 = transforms.Compose(
    [
        transforms.RandomResizedCrop(16),
        transforms.RandomApply([transforms.ColorJitter(0.1)]),
        transforms.ToTensor(),
        transforms.Normalize([0.5] * 3, [0.5] * 3, inplace=True),
    ]
)
V2 = v2.Compose(
    [
        v2.PILToTensor(),
        v2.RandomHorizontalFlip(),
        v2.Resize((16, 16)),
        v2.ToDtype(torch.float32, scale=True),
    ]
)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("transform", [V1, V2])
def test_image_folder(workers: int, transform: Any, folder: Any, tmp_path: Any) -> None:
    dataset = torchvision.datasets.ImageFolder(folder, transform)
    part, _ = random_split(dataset, [20, 4])
    loader = DataLoader(part, batch_size=4, shuffle=True, num_workers=workers)
    for images, labels in measure(loader, every_arm, tmp_path):
        assert images.shape == (4, 3, 16, 16) and images.dtype == torch.float32
        assert labels.shape == (4,)


def test_names_of_an_image_folder(folder: Any, tmp_path: Any) -> None:
    dataset = torchvision.datasets.ImageFolder(folder, V1, target_transform=int)
    assert stage_names(DataLoader(dataset, batch_size=4), tmp_path) == [
        "read ImageFolder.__getitem__",
        "loader default_loader",
        "transforms[0] RandomResizedCrop",
        "transforms[1] RandomApply",
        "transforms[2] ToTensor",
        "transforms[3] Normalize",
        "collate_fn default_collate",
    ]


def test_images_opened_inline_are_decoded_by_the_call_that_opened_them(
    folder: Any, tmp_path: Any
) -> None:
    loader = DataLoader(Opened(folder, V1), batch_size=4)
    assert stage_names(loader, tmp_path)[1] == "PIL.open"
    (tmp_path / "arms").mkdir()
    measure(loader, every_arm, tmp_path / "arms")


def test_two_images_per_sample(folder: Any, tmp_path: Any) -> None:
    class Views(Opened):
        def __getitem__(self, index: int) -> Any:
            return super().__getitem__(index), super().__getitem__(index)

    measure(DataLoader(Views(folder, V1), batch_size=4, num_workers=1), every_arm, tmp_path)


def add_noise(x: Any) -> Any:
    return x + torch.rand(1)


def test_live_members_draw_anew_in_a_replay(folder: Any, tmp_path: Any) -> None:
    noisy = transforms.Compose([transforms.ToTensor(), add_noise])
    loader = DataLoader(Opened(folder, noisy), batch_size=4)

    def script(engine: Any) -> None:
        names = [stage["name"] for stage in engine.greet()["chain"]["stages"]]
        engine.ask("prepare", samples=4, host_bytes=None, device_bytes=None)
        engine.run(boundary=names.index("transforms[1] add_noise"), steps=8, warmup=0)
        engine.finish()

    served = measure(loader, script, tmp_path)[-8:]
    offsets = {float(batch[0, 1, 0, 0]) for batch in served}
    assert len(offsets) == 8
