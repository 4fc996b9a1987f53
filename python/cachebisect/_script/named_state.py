"""What an iterator that is no DataLoader is made from, and changes. Not thread safe."""

from __future__ import annotations

import random
import sys
from types import FunctionType, ModuleType
from typing import Any

from .._chain.facts import is_torch_loader
from .._chain.named_source import NamedSource
from .._job.state import Kept
from .kept_attributes import KeptAttributes

_NO_OBJECT = (type, FunctionType, ModuleType)


class KeptGenerator:
    """The state of a generator of random numbers of torch, NumPy or Python."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self._state = _state_of(generator)

    def restore(self) -> None:
        generator = self._generator
        if hasattr(generator, "bit_generator"):
            generator.bit_generator.state = self._state
        elif isinstance(generator, random.Random):
            generator.setstate(self._state)
        else:
            generator.set_state(self._state)


def _state_of(generator: Any) -> Any:
    if hasattr(generator, "bit_generator"):
        return generator.bit_generator.state
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.get_state()


def kept_of_named(loader: Any) -> list[Kept]:
    """Of a NamedSource next to whose iterator another one is opened: the plain attributes of the
    objects that it reads, and the generators that it draws from."""
    stream = loader.stream if isinstance(loader, NamedSource) else None
    if stream is None or stream.is_shared:  # What is measured then moves it on for training, too.
        return []
    objects = {id(value): value for value in stream.sources() if not isinstance(value, _NO_OBJECT)}
    kept: list[Kept] = list(map(KeptAttributes, objects.values()))
    kinds = _kinds_of_generators()
    found = {id(value): value for value in stream.ingredients() if isinstance(value, kinds)}
    return [*kept, *map(KeptGenerator, found.values())]


def loaders_within(loader: Any) -> list[Any]:
    """The DataLoaders that a NamedSource takes its batches from."""
    stream = loader.stream if isinstance(loader, NamedSource) else None
    return [] if stream is None else list(filter(is_torch_loader, stream.ingredients()))


def _kinds_of_generators() -> tuple[type, ...]:
    kinds = [random.Random, sys.modules["torch"].Generator]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kinds += [numpy.random.Generator, numpy.random.RandomState]
    return tuple(kinds)
