"""A cache as it is in later epochs, for trying out what it gains. Not thread safe."""

from __future__ import annotations

import operator
import random
import time
from functools import partial
from typing import Any

from .._chain.slots import datasets_within
from .child import in_child
from .choice import Choice, choose
from .dataset import CachedDataset
from .shared_folder import SharedFolder, most_memory
from .store import MIN_LIMIT, Store
from .tiers import Tiers

_BYTES = 256 << 20
_SECONDS = 3.0
_SAMPLES = 2048


class FilledDataset(CachedDataset):
    """Whatever is asked for, a sample that is cached is served: later stages run for it."""

    def __init__(
        self, dataset: Any, choice: Choice, tiers: Tiers, folder: SharedFolder, filled: list[int]
    ) -> None:
        self._filled = filled
        super().__init__(dataset, choice, tiers, frozen=False, folder=folder)

    def __getitem__(self, index: Any) -> Any:
        try:
            number = operator.index(index)
        except TypeError:
            number = hash(repr(index))
        return super().__getitem__(self._filled[number % len(self._filled)])


def filled(dataset: Any, after: str) -> FilledDataset:
    """`dataset` behind a cache after the stage `after`, which holds some of its samples.

    They are made within a few seconds in a process of their own. Raises NotCacheable, ValueError,
    RuntimeError as cached() does; what the dataset raises.
    """
    size = int(min(_BYTES, most_memory()))
    if size < MIN_LIMIT:
        raise ValueError(f"cache: {MIN_LIMIT} bytes of shared memory are not free")
    folder = SharedFolder(size)
    tiers = Tiers([Store(folder.path, size, "none", durable=False)])
    try:
        choice, indices = in_child(partial(_fill, dataset, after, size, tiers))
    except BaseException:
        folder.remove()
        raise
    return FilledDataset(dataset, choice, tiers, folder, indices)


def _fill(dataset: Any, after: str, size: int, tiers: Tiers) -> tuple[Choice, list[int]]:
    """What is cached, and the indices of the samples that are."""
    choice, _ = choose(dataset, datasets_within(dataset), after, frozen=False, limit=size)
    kept = CachedDataset(dataset, choice, tiers, frozen=False, folder=None)
    end = time.monotonic() + _SECONDS
    count = len(dataset)
    for index in random.Random(1).sample(range(count), min(count, _SAMPLES)):
        kept[index]
        if time.monotonic() > end:
            break
    indices = [int(key) for key in tiers.keys()]
    tiers.close()
    if not indices:
        raise ValueError(f"cache: a sample takes {choice.bytes_per_sample:.0f} bytes")
    return choice, indices
