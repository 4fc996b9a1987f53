"""Tells the processes of a pipeline of Grain what to make: one word of memory that they share.

One process writes it. Others open it by the number of its file, as they get it with a dataset.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any

PAUSE, END, LIVE, FILL, FACTS, REPLAY, BYPASS = 0, 1, 2, 3, 4, 16, 4096
"""What is made. To REPLAY the number of a boundary is added, to BYPASS that of a stage."""

_LIMIT = 1 << 32
_MASK = _LIMIT - 1


class Control:
    """The word. It goes with the process that has made it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._file = os.memfd_create("cachebisect")
        os.ftruncate(self._file, mmap.PAGESIZE)
        self._open(self._file)

    def _open(self, file: int) -> None:
        self._memory = mmap.mmap(file, mmap.PAGESIZE)
        self._word = memoryview(self._memory).cast("Q")

    def __getstate__(self) -> dict[str, Any]:
        return {"_owner": self._owner, "_file": self._file}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._owner, self._file = state["_owner"], -1
        file = os.open(f"/proc/{self._owner}/fd/{state['_file']}", os.O_RDWR | os.O_CLOEXEC)
        try:
            self._open(file)
        finally:
            os.close(file)

    def write(self, code: int, limit: int = 0) -> None:
        """`limit`: batches of each process that are served again; 0: all."""
        self._word[0] = code | min(limit, _MASK) << 32

    def read(self) -> tuple[int, int]:
        """Code and limit."""
        word = self._word[0]
        return word & _MASK, word >> 32

    def is_orphaned(self) -> bool:
        """True where the process is gone that has made it."""
        return os.getpid() != self._owner and os.getppid() != self._owner

    def close(self) -> None:
        """Processes keep what they have opened."""
        with contextlib.suppress(OSError, ValueError):
            if self._file >= 0:
                os.close(self._file)
        self._file = -1
