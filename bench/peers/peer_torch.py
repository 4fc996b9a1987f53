"""PyTorch's DataLoader with torchvision's transforms: worker processes, one thread each.

Photos are loaded one by one; the sampler of the other cases gives lists of indices, and the dataset
makes a whole batch at once, which is several times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torchvision
from torch.utils.data import DataLoader, Dataset, Sampler
from torchvision.transforms import v2

import cases


class Endless(Sampler[int]):
    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[int]:
        return cases.endless(self.samples)


class EndlessBatches(Sampler[Any]):
    def __init__(self, samples: int, batch: int) -> None:
        self.samples, self.batch = samples, batch

    def __iter__(self) -> Iterator[Any]:
        return cases.endless_batches(self.samples, self.batch)


class Photos(Dataset[Any]):
    def __init__(self) -> None:
        self.files = cases.photos()
        crop = v2.RandomResizedCrop(cases.SIDE, antialias=True)
        self.transform = v2.Compose([crop, v2.RandomHorizontalFlip()])

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        path, label = self.files[index]
        data = torchvision.io.read_file(path)
        image = torchvision.io.decode_jpeg(data, mode=torchvision.io.ImageReadMode.RGB)
        return self.transform(image), label


class Small(Dataset[Any]):
    """Whole batches of a set that is held in memory."""

    def __init__(self, case: str) -> None:
        self.images, labels = cases.arrays(case)
        self.labels = torch.from_numpy(labels)
        self.transform = transform_of(case)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, indices: Any) -> Any:
        return self.transform(torch.from_numpy(self.images[indices])), self.labels[indices]


def transform_of(case: str) -> Any:
    scale = v2.ToDtype(torch.float32, scale=True)
    if case == "mnist_norm":
        normalize = v2.Normalize([cases.MNIST_MEAN], [cases.MNIST_STD])
        return v2.Compose([lambda images: images[:, None], scale, normalize])
    if case == "fakecifar_resize224":
        resize = v2.Resize(cases.SIDE, antialias=True)
        normalize = v2.Normalize([0.5] * 3, [0.5] * 3)
        # As floats: resized bytes would be rounded.
        return v2.Compose([lambda images: images.permute(0, 3, 1, 2), scale, resize, normalize])
    return lambda images: images


def batches(case: str, workers: int) -> Iterator[Any]:
    torch.set_num_threads(1)
    batch = cases.CASES[case].batch
    keep = workers > 0
    if case == "jpeg_rrc224":
        photos = Photos()
        loader: DataLoader[Any] = DataLoader(
            photos, batch, sampler=Endless(len(photos)), num_workers=workers, drop_last=True,
            persistent_workers=keep,
        )  # fmt: skip
        for images, labels in loader:
            yield images.permute(0, 2, 3, 1), labels
    else:
        small = Small(case)
        yield from DataLoader(
            small, batch_size=None, sampler=EndlessBatches(len(small), batch), num_workers=workers,
            persistent_workers=keep,
        )  # fmt: skip
