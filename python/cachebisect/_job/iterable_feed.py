"""Live batches of what is no DataLoader. Not thread safe."""

from __future__ import annotations

import time
from typing import Any, Callable, Optional

from .._chain import trees
from .feeds import Feed

_MOST_AHEAD = 64
"""Batches that an iterator may have made in advance."""


class IterableFeed(Feed):
    """Batches of any iterable, which is restarted at its end.

    Threads of its own may have made batches while other blocks ran. A loop that waits for batches
    never finds as many, so that they are dropped first: until one takes half as long as usual.
    `make_room(steps)`: sees to it that no epoch begins within so many batches, if it can.
    """

    def __init__(
        self,
        next_batch: Callable[[], Any],
        samples_per_batch: Optional[int] = None,
        usual_wait: float = 0.0,
        make_room: Callable[[int], None] = lambda _steps: None,
    ) -> None:
        super().__init__()
        self._next_batch = next_batch
        self._samples_per_batch = samples_per_batch
        self._usual_wait = usual_wait
        self._make_room = make_room

    def expect(self, steps: int) -> None:
        self._make_room(steps + _MOST_AHEAD)

    def begin(self, block: int) -> None:
        for _ in range(_MOST_AHEAD):
            began = time.monotonic()
            self._next_batch()
            if time.monotonic() - began >= self._usual_wait / 2:
                break

    def take(self) -> tuple[Any, int]:
        began = time.monotonic()
        batch = self._next_batch()
        self.waiting.starved += time.monotonic() - began
        return batch, self._samples_per_batch or trees.count_samples(batch) or 1
