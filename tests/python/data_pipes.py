"""Data pipes of the tests' own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterDataPipe

import cachebisect


class Numbers(IterDataPipe):  # type: ignore[type-arg]
    """`count` tensors, each filled with its number. `opened`: how often it was iterated."""

    def __init__(self, count: int = 64) -> None:
        self.count = count
        self.opened = 0

    def __iter__(self) -> Iterator[Any]:
        self.opened += 1
        for number in range(self.count):
            yield torch.full((4,), float(number))


class Halved(IterDataPipe):  # type: ignore[type-arg]
    """Half of each item. `made`: how many, of all copies in this process."""

    made: list[int] = [0]

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        for item in self.source:
            self.made[0] += 1
            yield item / 2


class InPlace(Halved):
    """Writes into what it takes."""

    def __iter__(self) -> Iterator[Any]:
        for item in self.source:
            yield item.mul_(0.5)


class Pairs(Halved):
    """The sum of each two items."""

    def __iter__(self) -> Iterator[Any]:
        items = iter(self.source)
        for item in items:
            yield item + next(items)


class Distinct(Halved):
    """Drops what it has given before."""

    def __iter__(self) -> Iterator[Any]:
        given: set[float] = set()
        for item in self.source:
            if float(item[0]) not in given:
                given.add(float(item[0]))
                yield item


class InAdvance(Halved):
    """Takes all items in a thread of its own."""

    def __iter__(self) -> Iterator[Any]:
        items: list[Any] = []
        thread = threading.Thread(target=lambda: items.extend(self.source))
        thread.start()
        thread.join()
        yield from items


class Closing(Halved):
    """Would end what copies share."""

    def __del__(self) -> None:
        self.__dict__.clear()


class Marked(Halved):
    """Calls a function that is marked as a stage."""

    def __iter__(self) -> Iterator[Any]:
        for item in self.source:
            yield marked_half(item)


@cachebisect.stage("marked")
def marked_half(item: Any) -> Any:
    return item / 2


def double(item: Any) -> Any:
    return item * 2


def is_even(item: Any) -> bool:
    return bool(item[0] % 2 == 0)
