"""An iterator that begins again at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional

_FRESH = 3


class Restarting:
    """Iterates `items` again and again. Not thread safe."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Optional[Iterator[Any]] = None
        self._given = 0
        """Items of the present iterator."""
        self._length: Optional[int] = None
        """Items of the last one that has ended."""

    def next(self) -> Any:
        """The next item. Raises StopIteration if three fresh iterators in a row are empty.

        A sampler that keeps its position has nothing left in the first, where an epoch just ended;
        and what needs a reset() gets it after the second.
        """
        fresh = 0
        while True:
            if self._iterator is None:
                if fresh == _FRESH:
                    raise StopIteration
                fresh += 1
                self._iterator = iter(self._items)
            try:
                item = next(self._iterator)
            except StopIteration:
                self._iterator = None
                self._length, self._given = self._given or self._length, 0
                continue
            self._given += 1
            return item

    def make_room(self, items: int) -> Optional[Iterator[Any]]:
        """Lets go of the present iterator, and returns it, if it will end within `items` items and
        another one would not."""
        iterator, length = self._iterator, self._length
        if iterator is None or iterator is self._items or length is None:
            return None
        return self.release() if self._given + items > length >= items else None

    def release(self) -> Optional[Iterator[Any]]:
        """The present iterator, which is let go of: the next item is the first of another one. None
        for an iterator of another library that was given as it is, which others may go on with."""
        released, self._iterator = self._iterator, None
        self._given = 0
        is_others = released is self._items and callable(getattr(released, "get_state", None))
        return None if is_others else released
