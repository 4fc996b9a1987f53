"""A loader that is iterated as its class does it, and measured as a whole. Not thread safe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

Context = Callable[[], contextlib.AbstractContextManager[Any]]


class OwnIteration:
    """An iterable of the batches of `loader`. `open`: makes an iterator of it; raises what the
    loader raises. `around`: a context for what the loader's own code runs in."""

    def __init__(
        self,
        loader: Any,
        open: Callable[[], Iterator[Any]],
        around: Context = contextlib.nullcontext,
    ) -> None:
        self.loader = loader
        self._open = open
        self.around = around

    @property
    def dataset(self) -> Any:
        return self.loader.dataset

    @property
    def num_workers(self) -> int:
        return int(self.loader.num_workers)

    def __iter__(self) -> Iterator[Any]:
        with self.around(), apart(self.loader):
            own = self._open()
        return _Own(own, self.loader, self.around)


class _Own(Iterator[Any]):
    def __init__(self, own: Iterator[Any], loader: Any, around: Context) -> None:
        self._own = own
        self._loader = loader
        self._around = around

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __next__(self) -> Any:
        with self._around(), apart(self._loader):
            return next(self._own)


@contextlib.contextmanager
def apart(loader: Any) -> Iterator[None]:
    """Hides the iterator that a DataLoader with persistent workers keeps: it is the script's, and
    would be begun again. What is kept in its place meanwhile is let go of."""
    kept = getattr(loader, "_iterator", None)
    if kept is None:
        yield
        return
    loader._iterator = None
    try:
        yield
    finally:
        loader._iterator = kept
