"""Datasets whose own code calls functions that take long; importable by workers."""

from __future__ import annotations

import json
import time
import zlib
from typing import Any

import torch
from torch.utils.data import IterableDataset

import cachebisect
from loaders import Items

ROUNDS = 60_000
PACKED = zlib.compress(bytes(1_000_000), 1)


def spend(rounds: int) -> int:
    """Takes a time that is proportional to `rounds`."""
    total = 0
    for number in range(rounds):
        total += number
    return total


def parse(text: str) -> Any:
    spend(ROUNDS)
    return json.loads(text)


def tidy(values: Any) -> Any:
    spend(ROUNDS)
    return values


@cachebisect.stage("tokenize")
def tokenize(text: str) -> list[int]:
    """Numbers of the words."""
    return [int(word) for word in text.split()]


class Marked(Items):
    """A marked function, and a marked method that is given the dataset itself."""

    def __getitem__(self, index: int) -> Any:
        return torch.tensor(self.padded(tokenize(f"{index} {index + 1}"))), index

    @cachebisect.stage("pad")
    def padded(self, numbers: list[int]) -> list[int]:
        return (numbers + [0] * 4)[:4]

    def __reduce__(self) -> Any:
        """The dataset itself is no argument that may be copied."""
        return type(self), (None, self.length)


class Parsed(Items):
    """Two functions, a static method, and one that only some samples call."""

    def __getitem__(self, index: int) -> Any:
        fields = self._fields(index)
        if index % 2:
            rare(index)
        return torch.tensor(tidy(self.checked(fields)["x"])), index

    def _fields(self, index: int) -> Any:
        """Nearly all of it is parse()."""
        return parse(json.dumps({"x": [float(index)] * 4}))

    @staticmethod
    def checked(fields: Any) -> Any:
        spend(ROUNDS)
        return fields


class Interrupted(Parsed):
    """One of its samples waits for a core in the middle of a function."""

    @staticmethod
    def checked(fields: Any) -> Any:
        if fields["x"][0] == 7:
            time.sleep(1.5)
        return Parsed.checked(fields)


def rare(_index: int) -> None:
    spend(3 * ROUNDS)


class Inline(Items):
    """Code that calls nothing."""

    def __getitem__(self, index: int) -> Any:
        total = 0
        for number in range(ROUNDS):
            total += number
        return torch.full((4,), float(index)), total


class Unzipped(Items):
    """Two functions written in C that take about as long, next to a transform."""

    def __getitem__(self, index: int) -> Any:
        size = len(zlib.decompress(PACKED)) + len(zlib.compress(bytes(200_000), 1))
        return self.transform(torch.full((4,), float(index))), size


class ParsedStream(IterableDataset):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        for index in range(64):
            yield torch.tensor(parse(f"[{index}, 1]")), index
