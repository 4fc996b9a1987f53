"""Datasets for tests of cachebisect.cached(); importable by workers of every start method."""

from __future__ import annotations

import random
from typing import Any, Callable, Optional

import numpy as np
import torch
from torch.utils.data import Dataset

from members import Compose


class Scale:
    """Gives the same in every epoch."""

    def __init__(self, factor: int = 3) -> None:
        self.factor = factor
        self.calls = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.factor


class Jitter:
    """Draws from the generator of torch."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(())


class SeldomNoise:
    """Draws for each sample, and changes few of them."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if np.random.random() < 0.001 else x


class AddInPlace:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1)


class Counter:
    """Gives another output each time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


class OwnGenerator:
    """Draws from a generator that nobody else sees."""

    def __init__(self) -> None:
        self.draws = np.random.default_rng(0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + float(self.draws.random())


class Numbers(Dataset):  # type: ignore[misc]
    """Sample i holds `width` numbers i and its label; `code` is run on it by the dataset itself."""

    def __init__(
        self,
        *members: Any,
        count: int = 40,
        width: int = 4,
        code: Optional[Callable[..., Any]] = None,
    ) -> None:
        self.transform = Compose(list(members))
        self.count = count
        self.width = width
        self.code = {"own": code}  # No stage: nothing looks into a dict.
        self.classes = ["even", "odd"]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if not 0 <= index < self.count:
            raise IndexError(f"no sample {index}")
        x = self.transform(torch.full((self.width,), float(index)))
        code = self.code["own"]
        return (x if code is None else code(x)), index % 2


def seldom_more(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if random.random() < 0.001 else x


def same(one: Any, other: Any) -> bool:
    """Both samples are equal."""
    return bool(torch.equal(one[0], other[0])) and one[1] == other[1]
