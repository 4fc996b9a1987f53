"""What each thread of a script is doing: which loaders it opens, which iterators it pulls from."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from .._chain.named_source import NamedSource

if TYPE_CHECKING:
    from .script_iterator import ScriptIterator


class SteppingThread:
    """The thread that steps the optimizers."""

    def __init__(self) -> None:
        self._ident: Optional[int] = None

    def note_step(self) -> None:
        """The present thread has stepped one."""
        self._ident = threading.get_ident()

    def is_another(self) -> bool:
        """True in a thread that is neither this one nor the main one."""
        if threading.current_thread() is threading.main_thread():
            return False
        return threading.get_ident() != self._ident


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

    def hides(self, loader: Any) -> bool:
        """True for loaders that we open, and for named ones that are part of another named one."""
        if self._unwatched > 0 or not isinstance(loader, NamedSource):
            return self._unwatched > 0
        around = [*self._opened, *(iterator.loader for iterator in self._pulled)]
        return any(isinstance(outer, NamedSource) for outer in around)


@contextlib.contextmanager
def _on(stack: list[Any], item: Any) -> Iterator[None]:
    """`item` is the last one of `stack` meanwhile."""
    stack.append(item)
    try:
        yield
    finally:
        stack.pop()
