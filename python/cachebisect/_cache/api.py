"""cachebisect.cached()."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional, Union

from .._chain.slots import datasets_within
from .choice import Choice, choose, decode_entry
from .disk_folder import bytes_of, own_folder
from .draws import KeptDraws
from .entry import NotCacheable
from .identity import difference, identity
from .shared_folder import SharedFolder
from .sizes import in_words, size_in_bytes
from .sqlite_file import Broken
from .store import MIN_LIMIT, Store
from .tiers import Tiers

_EVICT = ("none", "fifo", "lru")
_COMPARED = 8
"""Samples of an earlier run that are made anew and compared."""


def cached(
    dataset: Any,
    after: Optional[str] = None,
    *,
    memory: Union[int, str, None] = None,
    disk: Union[str, os.PathLike[str], None] = None,
    disk_limit: Union[int, str, None] = None,
    evict: str = "none",
    frozen: bool = False,
    version: str = "",
) -> Any:
    """`dataset`, whose stages up to `after` run once per sample instead of in every epoch.

        train = cachebisect.cached(ImageFolder(...), memory="8GiB")

    Args:
        dataset: a map-style torch.utils.data.Dataset. It is not changed.
        after: the last stage that is cached, as the report names it ("transforms[0]"), or "sample"
            for what the dataset returns; by default the last one behind which every epoch gives
            the same and for which there is room. The stages behind it run for every sample.
        memory: bytes of shared memory, such as "8GiB". One copy serves all workers of this process;
            it is gone when the process ends.
        disk: a folder, made if it is missing; later runs and other processes use what is there.
            On a local disk, and writable by you alone.
        disk_limit: bytes of the folder; by default half of what is free.
        evict: "none" keeps the samples that came first, "fifo" and "lru" make room for others.
        frozen: allows stages that draw random numbers before `after`: their first output is
            repeated in every epoch. This changes training.
        version: any text; a cache with another version is refused.

    Returns:
        A dataset with the same samples, length and attributes, for every start method of workers.
        `hits` and `misses` count the samples of this process; `close()` ends the cache.

    Raises:
        NotCacheable (a ValueError): a sample would not be what the dataset makes. 8 samples are
            made several times to see. TypeError, ValueError: an argument. RuntimeError: a folder
            that cannot be used, or holds a cache of something else. What the dataset raises.

    Thread safe; one thread of a process makes samples at a time.
    """
    _check_arguments(dataset, after, memory, disk, disk_limit, evict, frozen)
    from .dataset import CachedDataset

    shared = datasets_within(dataset)
    memory_bytes = None if memory is None else size_in_bytes("memory", memory, MIN_LIMIT)
    folder = None if disk is None else own_folder(Path(disk))
    disk_bytes = None if folder is None else bytes_of(folder, disk_limit)
    limit = max(memory_bytes or 0, disk_bytes or 0)
    choice = choose(dataset, shared, after, frozen, limit)
    stores, in_memory = [], None
    if memory_bytes is not None:
        in_memory = SharedFolder(memory_bytes)
        stores.append(Store(in_memory.path, memory_bytes, evict, durable=False))
    if folder is not None and disk_bytes is not None:
        stores.append(Store(folder, disk_bytes, evict, durable=True))
    for store in stores:
        _check_size(store, choice)
        _check_contents(store, dataset, shared, choice, version, frozen)
    return CachedDataset(dataset, choice, Tiers(stores), frozen, in_memory)


def _check_arguments(
    dataset: Any, after: Any, memory: Any, disk: Any, disk_limit: Any, evict: Any, frozen: bool
) -> None:
    import torch.utils.data

    iterable = isinstance(dataset, torch.utils.data.IterableDataset)
    if iterable or not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise TypeError(
            f"cached: {type(dataset).__name__} has no samples by index; only datasets with "
            "__getitem__ and __len__ can be cached"
        )
    if after is not None and not isinstance(after, str):
        raise TypeError(f"cached: after={after!r} is no name of a stage")
    if memory is None and disk is None:
        raise ValueError('cached: say where, by memory="8GiB" or disk="/scratch/cache"')
    if disk_limit is not None and disk is None:
        raise ValueError("cached: disk_limit= goes with disk=")
    if evict not in _EVICT:
        raise ValueError(f"cached: evict={evict!r}; there are {', '.join(_EVICT)}")
    if frozen and after is None:
        raise ValueError("cached: frozen=True needs after=: it says what is repeated")


def _check_size(store: Store, choice: Choice) -> None:
    if choice.bytes_per_sample > store.largest:
        raise ValueError(
            f"cached: a sample takes {in_words(choice.bytes_per_sample)} after {choice.after}; "
            f"with this limit at most {in_words(store.largest)} can be stored: give more"
        )


def _check_contents(
    store: Store, dataset: Any, shared: list[Any], choice: Choice, version: str, frozen: bool
) -> None:
    """Raises RuntimeError or NotCacheable if what is stored is not of this dataset."""
    examined = choice.examined
    with KeptDraws():
        slots = examined.slots[: choice.stages]
        wanted = identity(dataset, slots, version, lambda: dataset[0])
    try:
        found = store.describe("identity", wanted)
        if found != wanted:
            what = difference(found, wanted)
            raise RuntimeError(
                f"cached: {store.path} is {what}: remove its folder, or take another one"
            )
        why = store.about("refused")
        if why is not None:
            raise NotCacheable(
                f"{why} (found by an earlier run; remove the folder of {store.path})"
            )
        with KeptDraws():
            for key in store.keys()[:: max(1, len(store.keys()) // _COMPARED)][:_COMPARED]:
                _compare(store, key, shared, choice, frozen)
    except Broken as error:
        raise RuntimeError(f"cached: {error}") from error
    finally:
        store.close()


def _compare(store: Store, key: str, shared: list[Any], choice: Choice, frozen: bool) -> None:
    data = store.get(key)
    if data is None or frozen:
        return
    examined = choice.examined
    entry = decode_entry(data, shared, examined.names[choice.stages :])
    if entry is not None and key.isdigit():
        examined.check(int(key), entry, frozen=False)
