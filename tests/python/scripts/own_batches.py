"""Iterators of batches that are no DataLoader, of every kind that `--iterator` can name.

A batch is (float32 [4, 4], its number as int).
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Generator, Iterator
from typing import Any

import numpy
import torch
from torch.utils.data import DataLoader

LENGTH = 50
"""Batches of an epoch."""


def batch(number: int) -> Any:
    return torch.full((4, 4), float(number % 7)), number


def numbers(first: int = 0) -> Iterator[Any]:
    """A generator function."""
    for number in range(first, first + LENGTH):
        yield batch(number)


def shuffled(generator: random.Random) -> Iterator[Any]:
    """Draws from what it is given."""
    order = list(range(LENGTH))
    generator.shuffle(order)
    for number in order:
        yield batch(number + generator.randrange(2))


def from_reader(reader: Iterator[int]) -> Iterator[Any]:
    """Each number can be read once."""
    for _ in range(LENGTH):
        yield batch(next(reader))


def from_loader(loader: DataLoader[Any]) -> Iterator[Any]:
    """As a prefetcher around a DataLoader, which shuffles."""
    for x in loader:
        number = int(x[0])
        yield batch(number)


def loader_of_numbers() -> DataLoader[Any]:
    generator = torch.Generator().manual_seed(5)
    return DataLoader(range(LENGTH), batch_size=1, shuffle=True, generator=generator)  # type: ignore[arg-type]


class Epochs:
    """Its `__iter__` makes an iterator, in another order for each epoch."""

    def __init__(self) -> None:
        self.generator = numpy.random.default_rng(3)
        self.epoch = 0

    def __len__(self) -> int:
        return LENGTH

    def __iter__(self) -> Iterator[Any]:
        self.epoch += 1
        for number in self.generator.permutation(LENGTH):
            yield batch(int(number) + 100 * self.epoch)


class EverySecond(Epochs):
    """A subclass that uses what it overrides."""

    def __iter__(self) -> Iterator[Any]:
        for at, value in enumerate(super().__iter__()):
            if at % 2:
                yield value
        yield from numbers(200)


class Changed(Epochs):
    """Opens another object of the class at once, and needs that one's own iterator."""

    def __init__(self, source: Epochs) -> None:
        super().__init__()
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        opened = iter(self.source)
        assert isinstance(opened, Generator)
        return ((x + 1, number) for x, number in opened)


class Position:
    """Keeps its place in itself, although its `__iter__` makes an iterator."""

    def __iter__(self) -> Iterator[Any]:
        self.at = 0
        while self.at < LENGTH:
            self.at += 1
            yield batch(self.at)


class Own:
    """Is its own iterator, and begins again at `__iter__`."""

    def __init__(self) -> None:
        self.at = LENGTH
        self.epoch = 0

    def __iter__(self) -> Own:
        self.at = 0
        self.epoch += 1
        return self

    def __next__(self) -> Any:
        if self.at == LENGTH:
            raise StopIteration
        self.at += 1
        return batch(self.at + 100 * self.epoch)


class Skipping(Own):
    """Its `__next__` calls itself."""

    def __next__(self) -> Any:
        value = super().__next__()
        return next(self) if value[1] % 3 == 0 else value


class NeedsReset:
    """As DALI's iterators: `__iter__` begins nothing, reset() does after the end alone."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> NeedsReset:
        return self

    def __next__(self) -> Any:
        if self.at == LENGTH:
            raise StopIteration
        self.at += 1
        return [{"data": batch(self.at)[0], "label": torch.tensor([[self.at]])}]

    next = __next__

    def reset(self) -> None:
        if self.at == LENGTH:
            self.at = 0


class Augmenter:
    """As batchgenerators' MultiThreadedAugmenter: a thread reads ahead, and there is no end."""

    def __init__(self) -> None:
        self.queue: queue.Queue[Any] = queue.Queue(3)
        self.thread: Any = None

    def __iter__(self) -> Augmenter:
        return self

    def __next__(self) -> Any:
        if self.thread is None:
            self.thread = threading.Thread(target=self._read, daemon=True)
            self.thread.start()
        number = self.queue.get()
        return {"data": numpy.full((4, 4), number % 7, numpy.float32), "number": number}

    def _read(self) -> None:
        number = 0
        while True:
            number += 1
            self.queue.put(number)


class ReadsAhead:
    """Its `__iter__` is a generator, whose batches a thread puts into a queue of the object."""

    def __iter__(self) -> Iterator[Any]:
        self.queue: queue.Queue[Any] = queue.Queue(2)
        threading.Thread(target=self._read, daemon=True).start()
        while (value := self.queue.get()) is not None:
            yield value

    def _read(self) -> None:
        for value in numbers():
            self.queue.put(value)
        self.queue.put(None)


class Table:
    """Its methods are iterated."""

    def iter_batches(self, first: int = 0) -> Iterator[Any]:
        yield from numbers(first)

    def as_iterable(self) -> Epochs:
        return Epochs()

    @staticmethod
    def of_nothing() -> Iterator[Any]:
        return numbers()

    @classmethod
    def of_class(cls) -> Iterator[Any]:
        return iter(cls().iter_batches())


class Counted:
    """`made`: its batches so far, in the whole process."""

    made = 0

    def __iter__(self) -> Iterator[Any]:
        while True:
            Counted.made += 1
            yield batch(Counted.made)


class Failing:
    """Raises in the second epoch."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Failing:
        return self

    def __next__(self) -> Any:
        self.at += 1
        if self.at == 90:
            raise OSError("bad shard")
        return batch(self.at)
