"""Datasets for tests of cachebisect.prepare(); importable by workers of every start method."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

from cached_data import Numbers, Scale
from members import Compose

Box = namedtuple("Box", "x y")


class Crop:
    """Draws where it crops; takes images and arrays."""

    def __call__(self, image: Any) -> np.ndarray[Any, Any]:
        place = int(torch.randint(4, ()))
        return np.asarray(image)[place:, place:] + np.random.randint(3)


class Halve:
    def __call__(self, image: Image.Image) -> Image.Image:
        return image.resize((image.width // 2, image.height // 2))


class Images(Dataset):  # type: ignore[misc]
    """Images of a size that differs, in `mode`, with `info`; and a label, unless it is alone."""

    def __init__(self, mode: str = "RGB", info: Any = None, count: int = 20) -> None:
        self.transform = Compose([Halve(), Crop()])
        self.mode = mode
        self.info = info
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        bytes_of = np.random.RandomState(index).bytes((40 + index) * 30 * 4)
        image = Image.frombytes("RGBA", (40 + index, 30), bytes_of).convert(self.mode)
        image.info = dict(self.info(index)) if self.info else {}
        return self.transform(image), index % 3


class Parts(Dataset):  # type: ignore[misc]
    """Samples of everything that a sample may hold, behind a stage that repeats what it gives."""

    def __init__(self, whole: Any, count: int = 12) -> None:
        self.whole = {"own": whole}  # No stage: nothing looks into a dict.
        self.transform = Scale()
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.whole["own"](index, self.transform(torch.full((3,), float(index))))


def nested(index: int, x: torch.Tensor) -> Any:
    """Every kind of leaf and container."""
    return {
        "image": x,
        "Label": index,
        "name": f"päth/{index}.jpg",
        "none": None if index % 2 else index,
        "raw": bytes([index, 0, 255]),
        "boxes": [{"x": 1.5, "id": index, "tags": ["a", None, True]}],
        "tuple": (index, (2.0, "b")),
        "scalar": np.float32(index),
        "big": 2**70 + index,
        "nan": float("nan"),
        "half": torch.full((2, 2), index, dtype=torch.bfloat16),
        "view": torch.arange(1000.0)[index : index + 2],
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3) + index),
        "empty": [np.zeros((0, 3)), torch.empty(0), [], {}, ()],
        "zero": torch.tensor(index),
        "words": np.array(["a", "bc"], dtype=object),
        "box": Box(index, 2),
        "surrogate": "\ud800",
        "many": tuple(range(index, index + 40)),
        3: {"x y.z": index, "x_y_z": index + 1},
    }


def alone(index: int, x: torch.Tensor) -> Any:
    return x


def only_label(index: int, x: torch.Tensor) -> Any:
    return index * 7


def twice(index: int, x: torch.Tensor) -> Any:
    return [x, x, (x, [x])]


def with_mask(index: int, x: torch.Tensor) -> Any:
    return x, torch.full((2, 2), index), {"id": index}


FAULT = "CACHEBISECT_TEST_FAULT"


class Files(Numbers):
    """As files that others change: the variable FAULT says at which sample, and what happens there:
    a signal ends the process, "error" raises, "negative" gives other data."""

    def __init__(self) -> None:
        super().__init__(Scale(), count=300, width=2000)

    def __getitem__(self, index: int) -> Any:
        at, _, fault = os.environ.get(FAULT, "-1").partition(" ")
        x, label = super().__getitem__(index)
        if index != int(at):
            return x, label
        if fault.isdigit():
            os.kill(os.getpid(), int(fault))
        if fault == "negative":
            return -x - 1, label
        raise LookupError("no such file")


def equal(one: Any, other: Any) -> bool:
    """Both have the same types, and are equal bit by bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other))
    if isinstance(one, torch.Tensor):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and one.tolist() == other.tolist()
    return bool(one == other) or (one != one and other != other)
