"""A function that gives the batches of an epoch, as a loader. Not thread safe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable


class Called(Iterable[Any]):
    """Each iterator of it comes from another call of `function`, which takes no arguments."""

    def __init__(self, function: Callable[[], Iterable[Any]]) -> None:
        self._function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._function())
