"""An iterator that begins again at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional


class Restarting:
    """Iterates `items` again and again. Not thread safe."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Optional[Iterator[Any]] = None

    def next(self) -> Any:
        """The next item. Raises StopIteration if a fresh iterator is empty."""
        if self._iterator is not None:
            try:
                return next(self._iterator)
            except StopIteration:
                self._iterator = None
        self._iterator = iter(self._items)
        try:
            return next(self._iterator)
        except StopIteration:
            self._iterator = None
            raise

    def release(self) -> Optional[Iterator[Any]]:
        """The present iterator, which is let go of: the next item is the first of another one."""
        released, self._iterator = self._iterator, None
        return released
