"""A pipeline of Grain whose functions count their calls, here and in its processes."""

from __future__ import annotations

from typing import Any

import grain
import numpy

BATCH = 4
STAGES = [
    "source Numbers",
    "shuffle",
    "map double",
    "random_map Noise",
    "filter is_wanted",
    "batch 4",
]
LENGTH = 4000


class Numbers:
    """A data source."""

    def __init__(self, length: int = LENGTH) -> None:
        self.length = length
        self.reads = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        return numpy.full(2, index, numpy.float32)


class Noise(grain.transforms.RandomMap):  # type: ignore[misc]
    """Adds 0 or a half."""

    def __init__(self) -> None:
        self.calls = 0

    def random_map(self, item: Any, generator: Any) -> Any:
        self.calls += 1
        return item + numpy.float32(generator.integers(2) / 2)


class Calls:
    """Counts those of one process."""

    def __init__(self, length: int = LENGTH) -> None:
        self.source = Numbers(length)
        self.noise = Noise()
        self.doubled = 0

    def double(self, item: Any) -> Any:
        self.doubled += 1
        return item * 2

    def counts(self) -> tuple[int, int, int]:
        return self.source.reads, self.doubled, self.noise.calls

    def dataset(self, threads: int = 0, processes: int = 0, ahead: int = 8) -> Any:
        options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=ahead * (threads > 0))
        data = grain.MapDataset.source(self.source).seed(3).shuffle().map(self.double)
        data = data.random_map(self.noise).filter(is_wanted).to_iter_dataset(options).batch(BATCH)
        if processes == 0:
            return data
        return data.mp_prefetch(
            grain.multiprocessing.MultiprocessingOptions(processes, per_worker_buffer_size=2)
        )


def is_wanted(item: Any) -> bool:
    return bool(item[0] % 8 < 6)
