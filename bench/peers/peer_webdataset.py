"""WebDataset in PyTorch's DataLoader: worker processes, photos decoded and cropped one by one by
torchvision, shuffled in a buffer of 300.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torchvision
import webdataset
from torch.utils.data import DataLoader
from torchvision.transforms import v2

import cases

SHUFFLED = 300
"""About what the buffer of ours holds."""

TRANSFORM = v2.Compose(
    [v2.RandomResizedCrop(cases.SIDE, antialias=True), v2.RandomHorizontalFlip()]
)


def load(data: bytes) -> Any:
    encoded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return TRANSFORM(torchvision.io.decode_jpeg(encoded, torchvision.io.ImageReadMode.RGB))


def batches(case: str, workers: int) -> Iterator[Any]:
    torch.set_num_threads(1)
    files = cases.archives()
    dataset = webdataset.WebDataset(files, shardshuffle=len(files), seed=1)
    dataset = dataset.repeat().shuffle(SHUFFLED).to_tuple("jpg", "cls").map_tuple(load, int)
    loader = DataLoader(dataset, cases.CASES[case].batch, num_workers=workers)
    for images, labels in loader:
        yield images.permute(0, 2, 3, 1), labels
