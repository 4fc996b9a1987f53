"""One batch in the cache of a worker, at every boundary that lies in the worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._chain import tree_sizes
from .tape import Tape


@dataclass
class CachedBatch:
    """One tape per sample, or one of all if the dataset reads whole batches."""

    count: int
    """Samples in the batch."""
    tapes: list[Tape] = field(default_factory=list)
    samples: Any = None
    batch: Any = None
    """In private memory: each tensor in shared memory would hold a file descriptor, and a part of
    /dev/shm."""
    shared: list[bool] = field(default_factory=list)
    """Which leaves of `batch` collate_fn allocated in shared memory."""

    native_bytes: int = 0
    """What the objects of methods hold where Python does not see it, such as open decoders."""

    @property
    def samples_per_tape(self) -> int:
        return self.count // len(self.tapes)

    def sizes(self, members: int) -> list[int]:
        """Bytes in memory: order, reading, each member, collate."""
        sizes = [0] * (members + 3)
        sizes[1] = self.native_bytes
        for tape in self.tapes:
            for call in tape.calls:
                sizes[1] += tree_sizes.nbytes((call.args, call.kwargs))
                sizes[call.stage + 2] += tree_sizes.nbytes(call.output)
        sizes[members + 1] = tree_sizes.nbytes(self.samples)
        sizes[-1] = tree_sizes.nbytes(self.batch)
        return sizes
