"""What an iterator that is no DataLoader is made from, and changes. Not thread safe."""

from __future__ import annotations

from typing import Any

from .._chain.facts import is_torch_loader
from .._chain.named_source import NamedSource
from .._chain.shared_stream import SharedStream
from .._job.kept_sources import kept_sources
from .._job.state import Kept


class _Apart:
    """What was kept next to `stream`, as long as nothing is taken from the script's iterator."""

    def __init__(self, stream: SharedStream, kept: Kept) -> None:
        self._stream = stream
        self._kept = kept

    def restore(self) -> None:
        if not self._stream.is_shared:
            self._kept.restore()


def kept_of_named(loader: Any) -> list[Kept]:
    """Of a NamedSource next to whose iterator another one is opened: the plain attributes of the
    objects that it reads, and the generators that it draws from."""
    stream = loader.stream if isinstance(loader, NamedSource) else None
    if stream is None or stream.is_shared:  # What is measured then moves it on for training, too.
        return []
    return [_Apart(stream, k) for k in kept_sources(stream.sources(), stream.ingredients())]


def loaders_within(loader: Any) -> list[Any]:
    """The DataLoaders that a NamedSource takes its batches from."""
    stream = loader.stream if isinstance(loader, NamedSource) else None
    return [] if stream is None else list(filter(is_torch_loader, stream.ingredients()))
