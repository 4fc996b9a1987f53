"""A dataset whose samples several threads make: `read_threads` of a live arm."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Optional

from .._chain.forwarding import Forwarding
from .side_by_side import SideBySide


class ThreadedReads(Forwarding):
    """`dataset`, the samples of a batch made side by side in `threads` threads of each process.

    The threads begin with the first batch and end with close() or their worker. One thread at a
    time may ask for a batch.
    """

    def __init__(self, dataset: Any, threads: int) -> None:
        super().__init__(dataset)
        self._read_threads = threads
        self._side_by_side: Optional[SideBySide] = None
        self.become_ready()

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[index]

    def __getitems__(self, indices: Sequence[Any]) -> Any:
        return self._pool().map(partial(operator.getitem, self.dataset), indices)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_side_by_side": None}

    def close(self) -> None:
        """Ends the threads of this process."""
        pool, self._side_by_side = self._side_by_side, None
        if pool is not None and pool.process == os.getpid():
            pool.close()

    def _pool(self) -> SideBySide:
        if self._side_by_side is None or self._side_by_side.process != os.getpid():
            self._side_by_side = SideBySide(self._read_threads)
        return self._side_by_side


def own_dataset(dataset: Any) -> Any:
    """What the user's code knows of `dataset`: threads leave it as it is."""
    return dataset.dataset if isinstance(dataset, ThreadedReads) else dataset
