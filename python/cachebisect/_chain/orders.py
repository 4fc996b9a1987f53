"""The order in which samples are read: the user's own sampler, restarted at its end."""

from __future__ import annotations

import time
from typing import Any

from .restart import Restarting


class Order:
    """Gives the indices of one batch after another. `loader`: a map-style DataLoader.

    Batches that are shorter than the others (the last of an epoch) are left out, so that all blocks
    have batches of one size. Not thread safe.
    """

    def __init__(self, loader: Any) -> None:
        self._batched = loader.batch_sampler is not None
        self._batches = Restarting(loader.batch_sampler if self._batched else loader.sampler)
        self._longest = 0
        self.seconds = 0.0
        """Spent inside the sampler so far."""
        self.drawn = 0
        """Samples drawn so far."""

    def draw(self) -> Any:
        """Indices of the next batch. Raises what the sampler raises, ValueError if it is empty."""
        began = time.perf_counter()
        indices = self._next()
        for _ in range(2):
            if not self._batched or len(indices) >= self._longest:
                break
            indices = self._next()
        self.seconds += time.perf_counter() - began
        self.drawn += self.count(indices)
        if self._batched:
            self._longest = max(self._longest, len(indices))
        return indices

    @property
    def gives_batches(self) -> bool:
        """False for a sampler of single samples, each of which is a batch to the loader."""
        return self._batched

    def count(self, indices: Any) -> int:
        """Samples that `indices` stands for."""
        return len(indices) if self._batched else 1

    def _next(self) -> Any:
        try:
            return self._batches.next()
        except StopIteration:
            raise ValueError("the sampler of the loader gave no batch") from None
