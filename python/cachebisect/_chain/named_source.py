"""What a script iterates that is no DataLoader, and was named to be measured."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Callable, Optional

from .shared_stream import SharedStream


class NamedSource:
    """Stands for it where a loader is expected. Not thread safe.

    `name`: in words, such as "Loader" or "batches". `dataset`: what two sources of the same batches
    share.
    """

    num_workers = 0

    def __init__(self, name: str, dataset: Any) -> None:
        self.name = name
        self.dataset = dataset
        self._stream: Optional[weakref.ref[SharedStream]] = None

    @property
    def stream(self) -> Optional[SharedStream]:
        """What the script iterates at present, which is not kept alive by this; None: nothing."""
        return None if self._stream is None else self._stream()

    def note_stream(self, stream: SharedStream) -> None:
        """The script iterates this from now on."""
        self._stream = weakref.ref(stream)


def how_to_reopen(
    loader: Any, own: Iterator[Any], original: Callable[[Any], Iterator[Any]]
) -> Callable[[], Iterator[Any]]:
    """What gives another iterator of `loader`, a DataLoader or a NamedSource, to be measured.
    `own`: the script's, which `original(loader)` has made."""
    if isinstance(loader, NamedSource) and isinstance(own, SharedStream):
        loader.note_stream(own)
        return own.measured
    return lambda: original(loader)
