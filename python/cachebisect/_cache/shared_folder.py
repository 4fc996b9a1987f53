"""A folder in shared memory that ends with the process that made it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from .._chain.free import SHARED_MEMORY, free_memory, free_shared_memory

_PREFIX = "cachebisect-cache-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-(\d+)-")
_USABLE = 0.8
"""Share of what is free: loaders pass their batches through the same memory."""


class SharedFolder:
    """`limit`: bytes that will be written to it. Raises ValueError if they are not free.

    Removes folders of processes that were killed. The folder is removed with this object, by the
    process that made it alone.
    """

    def __init__(self, limit: int) -> None:
        _remove_abandoned()
        check_room(limit)
        process = os.getpid()
        prefix = f"{_PREFIX}{process}-{_start_of(process)}-"
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=SHARED_MEMORY))
        self._end = weakref.finalize(self, _remove, str(self.path), process)

    def remove(self) -> None:
        """Removes the folder now."""
        self._end()


def _remove(path: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def most_memory() -> float:
    """Bytes that may be taken without asking: half of what is free."""
    return min(free_shared_memory() or 0.0, free_memory() or 0.0) / 2


def check_room(limit: int) -> None:
    """Raises ValueError if `limit` bytes of shared memory are not free."""
    rooms = (
        (free_shared_memory(), f"bytes of {SHARED_MEMORY} (in a container: docker run --shm-size)"),
        (free_memory(), "bytes of memory"),
    )
    for free, what in rooms:
        if free is None or limit > _USABLE * free:
            raise ValueError(
                f"memory={limit}: only {free or 0:.0f} {what} are free, and loaders need some: "
                "take less, or disk="
            )


def _remove_abandoned() -> None:
    """Removes the folders whose process has ended without doing so."""
    try:
        names = os.listdir(SHARED_MEMORY)
    except OSError:
        return
    for name in names:
        match = _NAME.match(name)
        if match is not None and _start_of(int(match[1])) != int(match[2]):
            shutil.rmtree(os.path.join(SHARED_MEMORY, name), ignore_errors=True)


def _start_of(process: int) -> int:
    """When a process began, in the system's ticks: its number alone may be used again; 0 if it has
    ended."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
