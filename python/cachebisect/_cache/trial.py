"""A cache as it is in later epochs, for trying out what it gains. Not thread safe."""

from __future__ import annotations

import math
import operator
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

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
from .unnamed_file import UnnamedFile

_BYTES = 256 << 20
_SECONDS = 3.0
_SAMPLES = 2048


class FilledDataset(CachedDataset):
    """Whatever is asked for, a sample that is cached is served: later stages run for it."""

    def __init__(
        self, dataset: Any, choice: Choice, tiers: Tiers, folder: Any, filled: list[int]
    ) -> None:
        self._filled = filled
        super().__init__(dataset, choice, tiers, frozen=False, folder=folder)

    def __getitem__(self, index: Any) -> Any:
        try:
            number = operator.index(index)
        except TypeError:
            number = hash(repr(index))
        return super().__getitem__(self._filled[number % len(self._filled)])


def filled(dataset: Any, after: str, disk: Optional[str] = None) -> FilledDataset:
    """`dataset` behind a cache after the stage `after`, which holds some of its samples. It lies in
    shared memory; with `disk`, in a file without a name on the disk of that folder.

    They are made within a few seconds in a process of their own. Raises NotCacheable, ValueError,
    RuntimeError as cached() does; what the dataset raises.
    """
    store: Any
    store, place = _in_memory() if disk is None else _on_disk(disk)
    tiers = Tiers([store])
    try:
        choice, indices, places = in_child(partial(_fill, dataset, after, store, tiers))
    except BaseException:
        place.remove()
        raise
    if isinstance(store, UnnamedFile):
        store.places = places
    return FilledDataset(dataset, choice, tiers, place, indices)


def _in_memory() -> tuple[Any, Any]:
    """A store, and what ends it by `remove()`."""
    size = int(min(_BYTES, most_memory()))
    if size < MIN_LIMIT:
        raise ValueError(f"cache: {MIN_LIMIT} bytes of shared memory are not free")
    folder = SharedFolder(size)
    return Store(folder.path, size, "none", durable=False), folder


def _on_disk(folder: str) -> tuple[UnnamedFile, UnnamedFile]:
    try:
        status = os.statvfs(folder)
        size = int(min(_BYTES, status.f_bavail * status.f_frsize / 2))
        file = UnnamedFile(folder, size)
    except OSError as error:
        raise ValueError(f"no file can be made in {folder}: {error.strerror}") from error
    return file, file


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


Filled = tuple[Choice, list[int], dict[str, tuple[int, int]]]
"""What is cached, the indices of the samples that are, and where they lie in an unnamed file."""


def _fill(dataset: Any, after: str, store: Union[Store, UnnamedFile], tiers: Tiers) -> Filled:
    choice, _ = choose(dataset, datasets_within(dataset), after, frozen=False, limit=store.limit)
    indices = _some_samples(dataset, choice, tiers)
    return choice, indices, store.places if isinstance(store, UnnamedFile) else {}


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
