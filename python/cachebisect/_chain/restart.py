"""An iterator that begins again at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional

_FRESH = 2


class Restarting:
    """Iterates `items` again and again. Not thread safe."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Optional[Iterator[Any]] = None

    def next(self) -> Any:
        """The next item. Raises StopIteration if two fresh iterators in a row are empty.

        A sampler that keeps its position has nothing left in the first, where an epoch just ended.
        """
        fresh = 0
        while True:
            if self._iterator is None:
                if fresh == _FRESH:
                    raise StopIteration
                fresh += 1
                self._iterator = iter(self._items)
            try:
                return next(self._iterator)
            except StopIteration:
                self._iterator = None

    def release(self) -> Optional[Iterator[Any]]:
        """The present iterator, which is let go of: the next item is the first of another one."""
        released, self._iterator = self._iterator, None
        return released
