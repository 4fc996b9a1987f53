"""cachebisect.cached()."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from .._chain.slots import datasets_within
from .child import in_child
from .choice import Choice, choose
from .contents import check_contents
from .disk_folder import bytes_of, own_folder
from .shared_folder import SharedFolder, check_room, most_memory
from .sizes import in_words, size_in_bytes
from .sqlite_file import Broken
from .store import MIN_LIMIT, Store, limit_for
from .tiers import Tiers

_EVICT = ("none", "fifo", "lru")
_AUTO = "auto"


def cached(
    dataset: Any,
    after: Optional[str] = None,
    *,
    memory: Union[int, str, None] = None,
    disk: Union[str, os.PathLike[str], None] = None,
    disk_limit: Union[int, str, None] = None,
    evict: str = "none",
    frozen: bool = False,
    reuse: int = 0,
    version: str = "",
) -> Any:
    """`dataset`, whose stages up to `after` run once per sample instead of in every epoch.

        train = cachebisect.cached(ImageFolder(...), memory="8GiB")

    Args:
        dataset: a map-style torch.utils.data.Dataset. It is not changed.
        after: the last stage that is cached, as the report names it ("transforms[0]"), "sample"
            for what the dataset returns, or "read" for what it calls its first stage with; by
            default the last one behind which every epoch gives the same and for which there is
            room. The stages behind it run for every sample.
        memory: bytes of shared memory, such as "8GiB"; "auto" is what all samples need, at most
            half of what is free. One copy serves all workers of this process; it is gone when the
            process ends.
        disk: a folder, made if it is missing; later runs and other processes use what is there.
            On a local disk, and writable by you alone.
        disk_limit: bytes of the folder; by default half of what is free.
        evict: "none" keeps the samples that came first, "fifo" and "lru" make room for others.
        frozen: allows stages that draw random numbers before `after`: their first output is
            repeated in every epoch. This changes training.
        reuse: allows them too, but makes a sample anew after it was repeated so many times, on
            average: by draws that follow from torch's seed, and take none of its numbers.
        version: any text; a cache with another version is refused.

    Returns:
        A dataset with the same samples, length and attributes, for every start method of workers.
        `hits` and `misses` count the samples of this process; `close()` ends the cache.

    Raises:
        NotCacheable (a ValueError): a sample would not be what the dataset makes. 8 samples are
            made several times to see, in a process of their own. TypeError, ValueError: an
            argument. RuntimeError: a folder that cannot be used, or holds a cache of something
            else. What the dataset raises.

    Thread safe; one thread of a process makes samples at a time.
    """
    _check_arguments(dataset, after, memory, disk, disk_limit, evict, frozen, reuse)
    frozen = frozen or reuse > 0
    from .dataset import CachedDataset

    asked = None if memory in (None, _AUTO) else size_in_bytes("memory", memory, MIN_LIMIT)
    if asked is not None:
        check_room(asked)
    folder = None if disk is None else own_folder(Path(disk))
    stores = []
    if folder is not None:
        stores.append(Store(folder, bytes_of(folder, disk_limit), evict, durable=True))
    room = most_memory() if memory == _AUTO else asked or 0
    limit = max([room, *(store.limit for store in stores)])
    choice = in_child(partial(_chosen, dataset, after, frozen, limit, version, stores))
    in_memory = None
    if memory is not None:
        needed = limit_for(len(dataset), choice.bytes_per_sample)
        size = asked or max(MIN_LIMIT, int(min(needed, room)))
        in_memory = SharedFolder(size)
        stores.insert(0, Store(in_memory.path, size, evict, durable=False))
    _check_stores(stores, choice)
    return CachedDataset(dataset, choice, Tiers(stores), frozen, in_memory, reuse)


def _chosen(
    dataset: Any,
    after: Optional[str],
    frozen: bool,
    limit: float,
    version: str,
    on_disk: list[Store],
) -> Choice:
    shared = datasets_within(dataset)
    choice, examined = choose(dataset, shared, after, frozen, limit)
    for store in on_disk:
        check_contents(store, dataset, shared, examined, choice, version, frozen)
    return choice


def _check_stores(stores: list[Store], choice: Choice) -> None:
    """Raises ValueError if no sample fits, RuntimeError if a store cannot be used."""
    for store in stores:
        if choice.bytes_per_sample > store.largest:
            raise ValueError(
                f"cached: a sample takes {in_words(choice.bytes_per_sample)} after "
                f"{choice.after}; with this limit at most {in_words(store.largest)} can be "
                "stored: give more"
            )
        try:
            store.about("identity")
        except Broken as error:
            raise RuntimeError(f"cached: {error}") from error
        finally:
            store.close()


def _check_arguments(
    dataset: Any,
    after: Any,
    memory: Any,
    disk: Any,
    disk_limit: Any,
    evict: Any,
    frozen: bool,
    reuse: Any,
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
    if type(reuse) is not int or reuse < 0:
        raise ValueError(f"cached: reuse={reuse!r} is no count of repetitions; 0 is no limit")
    if reuse > 0 and after is None:
        raise ValueError("cached: reuse= needs after=: it says what is repeated")
    if frozen and after is None:
        raise ValueError("cached: frozen=True needs after=: it says what is repeated")
