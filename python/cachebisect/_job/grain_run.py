"""One run of a pipeline of Grain. Not thread safe."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, Callable, Optional

from .._chain.gate import Gate
from .._chain.node_epoch import PATIENCE_SECONDS

_POLL_SECONDS = 0.002
_STILL = 3
"""Times in a row that all threads are seen to wait: one may hand an item to another."""
_THREADS = "grain-"
"""How the names of Grain's threads begin."""
_WAITING = ("threading", "queue", "selectors", "concurrent.futures", "multiprocessing.")


class GrainRun(Iterator[Any]):
    """Iterates `dataset`, whose items pass `gate`. `opened`: is shown its iterator. Raises what the
    dataset raises."""

    def __init__(self, dataset: Any, gate: Gate, opened: Callable[[Any], None]) -> None:
        self._gate = gate
        self._iterator: Any = dataset.__iter__()
        opened(self._iterator)

    def __next__(self) -> Any:
        if self._iterator is None:
            raise StopIteration
        try:
            return next(self._iterator)
        except StopIteration:
            self.end()
            raise

    def rest(self) -> None:
        """Waits until no thread of Grain runs a function of the user's; at most for a while."""
        rest()

    def end(self) -> None:
        """Ends its threads. What it has made in advance is dropped."""
        iterator, self._iterator = self._iterator, None
        self._gate.end()
        if iterator is not None:
            with contextlib.suppress(
                Exception
            ):  # A function of the user's, for which nobody waits.
                iterator.close()

    _shutdown_workers = end
    """By the name that the iterator of a DataLoader has for it."""


def rest() -> None:
    """Waits until all threads of Grain wait; at most for a while."""
    until = time.monotonic() + PATIENCE_SECONDS
    still = 0
    while still < _STILL and time.monotonic() < until:
        frames = sys._current_frames()
        own = [t for t in threading.enumerate() if t.name.startswith(_THREADS)]
        if not own:
            return
        is_still = all(_waits(frames.get(thread.ident or 0)) for thread in own)
        still = still + 1 if is_still else 0
        time.sleep(_POLL_SECONDS)


def _waits(frame: Optional[FrameType]) -> bool:
    return frame is None or str(frame.f_globals.get("__name__", "")).startswith(_WAITING)
