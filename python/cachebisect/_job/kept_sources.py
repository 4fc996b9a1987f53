"""Keeps what an iterator that is no DataLoader is made from, and changes. Not thread safe."""

from __future__ import annotations

import random
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from .._chain.sharing import draws
from .state import Kept

_NO_OBJECT = (type, FunctionType, ModuleType)
_PLAIN = (type(None), bool, int, float, str, bytes)


class KeptAttributes:
    """The attributes of an object that are plain values or lists of them, such as a position."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._kept = {
            name: list(value) if type(value) is list else value
            for name, value in getattr(owner, "__dict__", {}).items()
            if _is_plain(value)
        }

    def restore(self) -> None:
        if not self._kept:
            return
        vars(self._owner).update(
            {n: list(v) if type(v) is list else v for n, v in self._kept.items()}
        )


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(type(item) in _PLAIN for item in value)
    return type(value) in _PLAIN


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


def kept_sources(sources: Iterable[Any], ingredients: Iterable[Any]) -> list[Kept]:
    """The plain attributes of the objects in `sources`, and the generators in `ingredients`."""
    objects = {id(value): value for value in sources if not isinstance(value, _NO_OBJECT)}
    kept: list[Kept] = list(map(KeptAttributes, objects.values()))
    found = {id(value): value for value in filter(draws, ingredients)}
    return [*kept, *map(KeptGenerator, found.values())]
