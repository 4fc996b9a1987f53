"""Trains on a loader whose transform computes with --threads threads per worker, or waits.

Knows nothing of cachebisect. torch gives each worker one thread; data sets that were tuned for
num_workers=0 often ask for more.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

COMPUTED, SENT = 192, 12
"""Rows and columns of an image: torch shares the larger one out among threads, not the smaller."""


class Smooth:
    """Threads share one sample: many small parallel operations."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        for _ in range(12):
            image = torch.sin(image) * 0.5 + image * 0.5
        return image


class Wait:
    """As a slow disk makes a worker wait: threads do not matter."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        time.sleep(2e-3)
        return image


class Images(Dataset):  # type: ignore[type-arg]
    def __init__(self, length: int, size: int, transform: Any) -> None:
        self.length = length
        self.size = size
        self.transform = transform

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        image = self.transform(torch.full((3, self.size, self.size), float(index % 7)))
        stride = self.size // SENT
        return image[:, ::stride, ::stride].contiguous(), index % 10


class Threads:
    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, worker: int) -> None:
        torch.set_num_threads(self.count)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=8, help="per worker")
    parser.add_argument("--waits", action="store_true", help="wait instead of computing")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=4096, help="per epoch")
    arguments = parser.parse_args()
    size, transform = (SENT, Wait()) if arguments.waits else (COMPUTED, Smooth())
    loader = DataLoader(
        Images(arguments.samples, size, transform), batch_size=8, num_workers=arguments.workers,
        worker_init_fn=Threads(arguments.threads),
    )  # fmt: skip
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(432, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(arguments.epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
