"""FFCV, from .beton files of its own, which are made next to the data the first time.

Its only resize is OpenCV's INTER_AREA, which repeats pixels when it enlarges: it cannot do
fakecifar_resize224. Photos are encoded again (quality 90) as it writes its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ffcv.fields import IntField, NDArrayField, RGBImageField
from ffcv.fields.basics import IntDecoder
from ffcv.fields.ndarray import NDArrayDecoder
from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder, SimpleRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import RandomHorizontalFlip, Squeeze, ToTensor
from ffcv.writer import DatasetWriter

import cases


class Photos:
    def __init__(self) -> None:
        self.files = cases.photos()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        path, label = self.files[index]
        return Image.open(path).convert("RGB"), label


class Arrays:
    def __init__(self, case: str) -> None:
        self.images, self.labels = cases.arrays(case)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Any:
        return self.images[index], int(self.labels[index])


class Normalize(torch.nn.Module):
    def forward(self, images: Any) -> Any:
        scale, shift = 1 / (255 * cases.MNIST_STD), cases.MNIST_MEAN / cases.MNIST_STD
        return images.float().mul_(scale).sub_(shift).unsqueeze(1)


def beton(case: str) -> Path:
    path = cases.data_folder() / "ffcv" / f"{case}.beton"
    if path.exists():
        return path
    path.parent.mkdir(exist_ok=True)
    field = {
        "jpeg_rrc224": lambda: RGBImageField(
            write_mode="jpg", max_resolution=None, jpeg_quality=90
        ),
        "cifar_raw": lambda: RGBImageField(write_mode="raw"),
        "mnist_norm": lambda: NDArrayField(np.dtype("uint8"), (28, 28)),
    }[case]()
    partial = path.with_suffix(".partial")
    writer = DatasetWriter(str(partial), {"image": field, "label": IntField()}, num_workers=1)
    writer.from_indexed_dataset(Photos() if case == "jpeg_rrc224" else Arrays(case))
    return partial.rename(path)


def batches(case: str, workers: int) -> Iterator[Any]:
    if case == "fakecifar_resize224":
        raise ValueError("it has no linear resize")
    torch.set_num_threads(1)
    crop = RandomResizedCropRGBImageDecoder((cases.SIDE, cases.SIDE))
    image = {
        "jpeg_rrc224": [crop, RandomHorizontalFlip(), ToTensor()],
        "cifar_raw": [SimpleRGBImageDecoder(), ToTensor()],
        "mnist_norm": [NDArrayDecoder(), ToTensor(), Normalize()],
    }[case]
    loader = Loader(
        str(beton(case)), batch_size=cases.CASES[case].batch, num_workers=workers, os_cache=True,
        order=OrderOption.RANDOM, seed=1, drop_last=True,
        pipelines={"image": image, "label": [IntDecoder(), ToTensor(), Squeeze()]},
    )  # fmt: skip
    while True:
        yield from loader
