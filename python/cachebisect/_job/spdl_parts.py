"""What stands in a pipeline of SPDL for its stages, or between them. Not thread safe: one thread at
a time calls each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from .._chain import trees
from .node_feed import Cycle
from .node_fill import kept_like

_COMPARED = 8
"""Items of a fill that are looked at again, to see whether a later stage has written into them."""
_ROUNDING = 1e-6


class Tap:
    """Keeps the items that pass, as a function of a pipeline."""

    def __init__(self) -> None:
        self.count = 0
        self.is_written = False
        """What is behind it writes into them."""
        self._kept: deque[Any] = deque()
        self._originals: list[tuple[Any, Any]] = []

    def __call__(self, item: Any) -> Any:
        kept = kept_like(item)
        if len(self._originals) < _COMPARED:
            self._originals.append((item, kept))
        self._kept.append(kept)
        self.count += 1
        return item

    def take(self, count: int) -> list[Any]:
        """The oldest so many, as far as there are some."""
        written = (trees.digest(a) != trees.digest(b) for a, b in self._originals)
        self.is_written = self.is_written or any(written)
        self._originals.clear()
        return [self._kept.popleft() for _ in range(min(count, len(self._kept)))]


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
