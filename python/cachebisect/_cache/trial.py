"""A cache as it is in later epochs, for trying out what it gains. Not thread safe."""

from __future__ import annotations

import math
import operator
import random
import time
from functools import partial
from pathlib import Path
from typing import Any, Optional

from .._chain.slots import datasets_within
from .child import in_child
from .choice import Choice, choose
from .contents import check_contents
from .dataset import CachedDataset
from .disk_folder import free_in, own_folder
from .shared_folder import SharedFolder, most_memory
from .sizes import in_words
from .store import MIN_LIMIT, Store, limit_for
from .tiers import Tiers

_BYTES = 256 << 20
_SECONDS = 3.0
_SAMPLES = 2048


class FilledDataset(CachedDataset):
    """Whatever is asked for, a sample that is cached is served: later stages run for it."""

    def __init__(
        self,
        dataset: Any,
        choice: Choice,
        tiers: Tiers,
        folder: Optional[SharedFolder],
        filled: list[int],
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


def filled_in_file(dataset: Any, after: str, folder: Path) -> FilledDataset:
    """The same in a file, as cached(dataset, after, disk=folder) has it: what is made here is used
    by a later run. The file stays.

    Raises NotCacheable, ValueError, RuntimeError as cached() does, ValueError if the disk has no
    room for all samples; what the dataset raises.
    """
    place = own_folder(folder)
    choice, indices, limit = in_child(partial(_fill_file, dataset, after, place))
    tiers = Tiers([Store(place, limit, "none", durable=True)])
    return FilledDataset(dataset, choice, tiers, None, indices)


def _fill(dataset: Any, after: str, size: int, tiers: Tiers) -> tuple[Choice, list[int]]:
    """What is cached, and the indices of the samples that are."""
    choice, _ = choose(dataset, datasets_within(dataset), after, frozen=False, limit=size)
    return choice, _some_samples(dataset, choice, tiers)


def _fill_file(dataset: Any, after: str, folder: Path) -> tuple[Choice, list[int], int]:
    """As _fill(), and the bytes of a file that holds all samples."""
    shared = datasets_within(dataset)
    choice, examined = choose(dataset, shared, after, frozen=False, limit=math.inf)
    limit = max(MIN_LIMIT, math.ceil(limit_for(len(dataset), choice.bytes_per_sample)))
    room = free_in(folder)
    if limit > room:
        raise ValueError(
            f"cache: about {in_words(limit)} are needed for all samples, and {in_words(room)} are "
            f"free in {folder}: free some space, or name another folder"
        )
    store = Store(folder, limit, "none", durable=True)
    check_contents(store, dataset, shared, examined, choice, "", frozen=False)
    return choice, _some_samples(dataset, choice, Tiers([store])), limit


def _some_samples(dataset: Any, choice: Choice, tiers: Tiers) -> list[int]:
    """Makes samples for a few seconds. Returns the indices of all that are cached."""
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
    return indices
