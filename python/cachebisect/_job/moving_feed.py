"""Moves batches to the device before the step does, and runs stages there."""

from __future__ import annotations

from typing import Any, Optional

from .._chain import trees
from .feeds import Feed
from .on_device import DeviceStages


class MovingFeed(Feed):
    """Batches of `feed` on `device`: the step's own `.to(device)` then does nothing.

    `stages`: those that run there.
    """

    def __init__(
        self,
        feed: Feed,
        device: Any,
        non_blocking: bool = True,
        stages: Optional[DeviceStages] = None,
    ) -> None:
        super().__init__()
        self._feed = feed
        self._device = device
        self._non_blocking = non_blocking
        self._stages = stages
        self.waiting = feed.waiting
        self.settling_steps = feed.settling_steps

    def begin(self, block: int) -> None:
        self._feed.begin(block)

    def take(self) -> tuple[Any, int]:
        batch, size = self._feed.take()
        moved = trees.to_device(batch, self._device, self._non_blocking)
        return (moved if self._stages is None else self._stages.run(moved)), size

    def end(self) -> None:
        self._feed.end()
