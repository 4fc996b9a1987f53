"""When a DataLoader's batches were fetched: from the dataset, then by collate_fn.

They are fetched in worker processes, or in the training process if there are none. Each process
appends to a file of its own, which the training process reads at the end.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

_NUMBER = "_cachebisect_number"
"""Attribute that holds the number of a fetcher within its process."""


class Fetch(NamedTuple):
    """One batch. Times are nanoseconds of the system clock."""

    fetcher: int
    began: int
    collating: int
    """The dataset has given all samples."""
    ended: int


class FetchLog:
    """Writes to folder/PID, also in children of fork. A file that cannot be written is given up."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pid: Optional[int] = None
        self._file: Optional[int] = None

    def write(self, fetch: Fetch) -> None:
        if self._pid != os.getpid():
            self._open()
        if self._file is None:
            return
        try:
            os.write(self._file, b"%d %d %d %d\n" % fetch)
        except OSError:
            self._file = None

    def _open(self) -> None:
        self._pid = os.getpid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._file = os.open(os.path.join(self._folder, str(self._pid)), flags, 0o600)
        except OSError:
            self._file = None


def follow_fetches(log: FetchLog, fetch: Any) -> None:
    """`fetch`: the module torch.utils.data._utils.fetch; another PyTorch may lack its classes."""
    numbers = itertools.count()
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        kind = getattr(fetch, name, None)
        if kind is not None:
            kind.fetch = _timed(kind.fetch, log, numbers)


def fetcher_number(iterator: Any) -> Optional[int]:
    """The fetcher number of an iterator that loads in the training process; None before its first
    batch."""
    return getattr(getattr(iterator, "_dataset_fetcher", None), _NUMBER, None)


def read_fetches(folder: str, pid: int) -> Iterator[Fetch]:
    """What a process has written; a last line that is not complete is left out."""
    try:
        with open(os.path.join(folder, str(pid)), encoding="ascii") as file:
            lines = file.read().split("\n")[:-1]
    except OSError:
        return
    for line in lines:
        yield Fetch(*(int(word) for word in line.split()))


def _timed(original: Any, log: FetchLog, numbers: Iterator[int]) -> Any:
    def fetch(self: Any, index: Any) -> Any:
        number = getattr(self, _NUMBER, None)
        if number is None:
            number = next(numbers)
            setattr(self, _NUMBER, number)
        collate = self.collate_fn
        collating = 0

        def timed_collate(data: Any) -> Any:
            nonlocal collating
            collating = time.time_ns()
            return collate(data)

        self.collate_fn = timed_collate
        began = time.time_ns()
        try:
            batch = original(self, index)
        finally:
            self.collate_fn = collate
        ended = time.time_ns()
        log.write(Fetch(number, began, collating or ended, ended))
        return batch

    return fetch
