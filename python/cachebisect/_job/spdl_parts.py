"""What stands in a pipeline of SPDL for its stages, or between them. Not thread safe: one thread at
a time calls each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .node_feed import Cycle

_ROUNDING = 1e-6


class Endless:
    """The items of a cycle, as a source."""

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self._cycle.next()


class Answers:
    """In place of a stage that takes `share` items for each of its own: gives those of `cycle`."""

    def __init__(self, cycle: Cycle, share: float) -> None:
        self._cycle = cycle
        self._share = share
        self._due = 0.0

    @property
    def function(self) -> Any:
        """For a pipe. SPDL runs generators item by item, which takes longer."""
        return self._several if self._share < 1 else self._at_most_one

    def _at_most_one(self, _item: Any) -> Any:
        """None: none for this one, which SPDL drops."""
        return next(self._several(_item), None)

    def _several(self, _item: Any) -> Iterator[Any]:
        self._due += 1.0
        while self._due >= self._share - _ROUNDING:
            self._due -= self._share
            yield self._cycle.next()
