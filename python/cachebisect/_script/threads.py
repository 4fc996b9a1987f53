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

    def opening(self, loader: Any) -> contextlib.AbstractContextManager[None]:
        """Around what makes an iterator of `loader`."""
        return _on(self._opened, loader)

    def opens(self, loader: Any) -> bool:
        """True while an iterator of `loader` is being made."""
        return any(opened is loader for opened in self._opened)

    def pulling(self, iterator: ScriptIterator) -> contextlib.AbstractContextManager[None]:
        """Around what takes a batch from `iterator`."""
        return _on(self._pulled, iterator)

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


@contextlib.contextmanager
def _on(stack: list[Any], item: Any) -> Iterator[None]:
    """`item` is the last one of `stack` meanwhile."""
    stack.append(item)
    try:
        yield
    finally:
        stack.pop()
