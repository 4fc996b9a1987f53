"""The five loaders whose rate through the shadow loader is compared with their own."""

from __future__ import annotations

import time
from typing import Any, Callable

import torch
from planted_loaders import Plan, loader_of
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

BATCH = 8


class RandomImages(Dataset):  # type: ignore[type-arg]
    """Images of 128 x 128, generated and transformed."""

    def __init__(self) -> None:
        self.transform = v2.Compose(
            [
                v2.RandomResizedCrop(96, antialias=True),
                v2.RandomHorizontalFlip(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize([0.5] * 3, [0.25] * 3),
            ]
        )

    def __len__(self) -> int:
        return 20000

    def __getitem__(self, index: int) -> Any:
        image = torch.randint(0, 256, (3, 128, 128), dtype=torch.uint8)
        return self.transform(image), index % 10


class ExactWait:
    """Takes `seconds`: sleeps, and computes until they are over, as a sleep ends late."""

    SPIN = 0.15e-3

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, sample: Any) -> Any:
        end = time.perf_counter() + self._seconds
        if self._seconds > self.SPIN:
            time.sleep(self._seconds - self.SPIN)
        while time.perf_counter() < end:
            pass
        return sample


class Waits(Dataset):  # type: ignore[type-arg]
    """Samples that take `seconds`, in three equal parts."""

    def __init__(self, seconds: float) -> None:
        self._read = ExactWait(seconds / 3)
        self.transform = v2.Compose([ExactWait(seconds / 3), ExactWait(seconds / 3)])

    def __len__(self) -> int:
        return 20000

    def __getitem__(self, index: int) -> Any:
        return self.transform(self._read(torch.zeros(16))), index % 10


def _planted(workers: int, iterable: bool, burn: bool, seconds: float, tensors: int) -> Any:
    """Reading and two members take `seconds` together."""
    method = "fork" if workers else None
    plan = Plan(
        0, "none", workers, method, iterable, burn, seconds / 3, [seconds / 3] * 2,
        0.0, tensors, 0.0, 0.0, BATCH,
    )  # fmt: skip
    return loader_of(plan, 0, method)


def _images() -> Any:
    return DataLoader(RandomImages(), batch_size=BATCH, num_workers=4)


def waiting(workers: int, seconds: float) -> Any:
    """Samples take `seconds`, in three equal parts, of which half is waiting."""
    return DataLoader(Waits(seconds), batch_size=BATCH, num_workers=workers)


def computing(workers: int, seconds: float) -> Any:
    """Samples compute for `seconds`, in three equal parts."""
    return _planted(workers, False, True, seconds, 2)


LOADERS: dict[str, Callable[[], Any]] = {
    "W 0, waits 1 ms per sample": lambda: waiting(0, 1e-3),
    "W 2, waits 1 ms per sample": lambda: waiting(2, 1e-3),
    "W 2, computes 1 ms per sample": lambda: computing(2, 1e-3),
    "W 4, torchvision transforms": _images,
    "W 2, iterable, 20 tensors per batch": lambda: _planted(2, True, False, 0.3e-3, 20),
}
"""By what the table calls them."""
