"""Moves batches to the device before the step does: what `.to(device, non_blocking=True)` gives."""

from __future__ import annotations

from typing import Any

from .._chain import trees
from .feeds import Feed


class MovingFeed(Feed):
    """Batches of `feed` on `device`. The step's own `.to(device)` then does nothing."""

    def __init__(self, feed: Feed, device: Any) -> None:
        super().__init__()
        self._feed = feed
        self._device = device
        self.waiting = feed.waiting

    def begin(self, block: int) -> None:
        self._feed.begin(block)

    def take(self) -> tuple[Any, int]:
        batch, size = self._feed.take()
        return trees.to_device(batch, self._device, non_blocking=True), size

    def end(self) -> None:
        self._feed.end()
