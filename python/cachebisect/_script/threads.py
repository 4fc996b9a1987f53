"""What each thread of a script is doing: which loaders it opens, which iterators it pulls from."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .script_iterator import ScriptIterator


class ThreadStates(threading.local):
    """Each thread sees its own."""

    def __init__(self) -> None:
        super().__init__()
        self._opened: list[Any] = []
        self._pulled: list[ScriptIterator] = []
        self._unwatched = 0

    @contextlib.contextmanager
    def opening(self, loader: Any) -> Iterator[None]:
        """Around what makes an iterator of `loader`."""
        self._opened.append(loader)
        try:
            yield
        finally:
            self._opened.pop()

    def opens(self, loader: Any) -> bool:
        """True while an iterator of `loader` is being made."""
        return any(opened is loader for opened in self._opened)

    @contextlib.contextmanager
    def pulling(self, iterator: ScriptIterator) -> Iterator[None]:
        """Around what takes a batch from `iterator`."""
        self._pulled.append(iterator)
        try:
            yield
        finally:
            self._pulled.pop()

    def puller(self) -> Optional[ScriptIterator]:
        """The innermost iterator that a batch is being taken from."""
        return self._pulled[-1] if self._pulled else None

    @contextlib.contextmanager
    def unwatched(self) -> Iterator[None]:
        """Around loaders that we open ourselves."""
        self._unwatched += 1
        try:
            yield
        finally:
            self._unwatched -= 1

    @property
    def is_unwatched(self) -> bool:
        return self._unwatched > 0
