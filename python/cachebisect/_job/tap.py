"""What stands between two stages of a pipeline while the caches are filled."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable

from .._chain import trees
from .node_fill import kept_like

_COMPARED = 8
"""Items of a fill that are looked at again, to see whether a later stage has written into them."""


class Tap:
    """Keeps the items that pass, as a function of a pipeline. Threads may call it at the same
    time; one thread does all else. `keep`: makes the copies."""

    def __init__(self, keep: Callable[[Any], Any] = kept_like) -> None:
        self._keep = keep
        self.count = 0
        self.is_written = False
        """What is behind it writes into them."""
        self._kept: deque[Any] = deque()
        self._originals: list[tuple[Any, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, item: Any) -> Any:
        kept = self._keep(item)
        with self._lock:
            if len(self._originals) < _COMPARED:
                self._originals.append((item, kept))
            self._kept.append(kept)
            self.count += 1
        return item

    def take(self, count: int) -> list[Any]:
        """The oldest so many, as far as there are some."""
        written = (trees.digest(a) != trees.digest(b) for a, b in self._originals)
        self.is_written = self.is_written or any(written)
        self._originals.clear()
        return [self._kept.popleft() for _ in range(min(count, len(self._kept)))]
