"""Pinning of batches into page-locked memory, as a DataLoader with pin_memory=True does it.

torch's pin thread receives what a worker sends, pins it and hands it to the training thread. A
Parcel around each batch has a `pin_memory()` of its own, which torch calls as it does for any type
that has one: so it is torch's own thread that is timed.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from time import perf_counter, thread_time
from typing import Any, NamedTuple, Optional

from . import trees

_CALIBRATIONS = 5


def happens(loader: Any) -> bool:
    """True if torch pins the batches of `loader`."""
    return bool(getattr(loader, "pin_memory", False)) and has_accelerator()


def has_accelerator() -> bool:
    """True if there is a device to pin memory for. Without one torch ignores pin_memory."""
    torch = sys.modules["torch"]
    accelerator = getattr(torch, "accelerator", None)  # None before torch 2.6.
    return bool((accelerator or torch.cuda).is_available())


def pin(batch: Any) -> Any:
    """`batch` with what can be pinned in pinned memory, by the rules of DataLoader."""
    from torch.utils.data._utils import pin_memory

    return pin_memory.pin_memory(batch)


def threads_share_interpreter() -> bool:
    """True if only one thread at a time runs Python: false in free-threaded builds."""
    enabled = getattr(sys, "_is_gil_enabled", None)
    return enabled is None or bool(enabled())


class Spent(NamedTuple):
    """Seconds of one thread."""

    busy: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Any) -> Spent:
        return Spent(self.busy + other.busy, self.cpu + other.cpu)


class Stopwatch:
    """Measures the calling thread from its construction."""

    def __init__(self) -> None:
        self._busy, self._cpu = perf_counter(), thread_time()

    def spent(self) -> Spent:
        """Since construction."""
        return Spent(perf_counter() - self._busy, thread_time() - self._cpu)


class PinLog:
    """Which tasks of a loader have been pinned and not yet received. Lives in the training process.

    The pin thread adds, the training thread reads and removes.
    """

    def __init__(self) -> None:
        self.key = next(_keys)
        self.done: set[int] = set()
        _logs[self.key] = self


_keys = itertools.count(1)
_logs: weakref.WeakValueDictionary[int, PinLog] = weakref.WeakValueDictionary()
"""Parcels come out of a pickle: they know their log by its key alone."""


class Parcel:
    """A batch on its way from the worker to the training thread. `key`: of the PinLog."""

    __slots__ = ("batch", "key", "number", "pinned", "unpacked")

    def __init__(self, key: int, number: int, batch: Any) -> None:
        self.key = key
        self.number = number
        self.batch = batch
        self.unpacked = Spent()
        """Receiving the batch, and giving back the shared memory that it came in."""
        self.pinned: Optional[Spent] = None

    def pin_memory(self) -> Parcel:
        """Called by torch, in its pin thread; without workers in the training thread."""
        watch = Stopwatch()
        parcel = Parcel(self.key, self.number, pin(self.batch))
        parcel.pinned = watch.spent()
        watch = Stopwatch()
        self.batch = None  # torch lets go of it here, too, before the batch is handed over.
        parcel.unpacked = self.unpacked + watch.spent()
        log = _logs.get(self.key)
        if log is not None:
            log.done.add(self.number)
        return parcel

    def __reduce__(self) -> Any:
        # A pickle is read in order: the watch starts before the batch is rebuilt.
        return _unpacked, (_Watch(), self.key, self.number, self.batch)


class _Watch:
    """Becomes a Stopwatch where it is unpickled."""

    def __reduce__(self) -> Any:
        return Stopwatch, ()


def _unpacked(watch: Stopwatch, key: int, number: int, batch: Any) -> Parcel:
    parcel = Parcel(key, number, batch)
    parcel.unpacked = watch.spent()
    return parcel


class _PinnedAlready:
    """In place of a tensor: pinning it takes nothing."""

    def pin_memory(self) -> _PinnedAlready:
        return self


def python_seconds(batch: Any) -> float:
    """What pinning `batch` takes without its tensors: walking the structure, under the GIL.

    0 for a tensor, and for a type with a `pin_memory()` of its own, which cannot be seen into.
    """
    if hasattr(batch, "pin_memory"):
        return 0.0

    def emptied(leaf: Any) -> Any:
        return _PinnedAlready() if hasattr(leaf, "pin_memory") else leaf

    skeleton = trees.map_leaves(batch, emptied)
    times = []
    for _ in range(_CALIBRATIONS):
        watch = Stopwatch()
        pin(skeleton)
        times.append(watch.spent().busy)
    return min(times)
