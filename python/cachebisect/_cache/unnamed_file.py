"""A file without a name, which is gone with the processes that have it open, however they end.

Has what a cache asks of a store. Filled by one process; thread safe once it is.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

from .sqlite_file import Broken


class UnnamedFile:
    """A file on the disk of `folder`, of at most `limit` bytes. Raises OSError."""

    def __init__(self, folder: str, limit: int) -> None:
        self.limit = limit
        self.places: dict[str, tuple[int, int]] = {}
        """Where each value begins, and its bytes."""
        self._size = 0
        self._about: dict[str, str] = {}
        self._file: Any = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._path = f"/proc/{os.getpid()}/fd/{self._file.fileno()}"
        self._maker: Optional[int] = os.getpid()

    def get(self, key: str) -> Optional[bytes]:
        """The bytes of `key`; None if there are none. Raises Broken."""
        place = self.places.get(key)
        if place is None:
            return None
        try:
            data = os.pread(self._opened().fileno(), place[1], place[0])
        except OSError as error:
            raise Broken(f"what was cached cannot be read: {error}") from error
        return data if len(data) == place[1] else None

    def put(self, key: str, data: bytes, again: bool = False) -> bool:
        """Stores `data` under `key`; False if there is no room. `again`: room is not found anew."""
        if self._size + len(data) > self.limit:
            return False
        try:
            written = os.pwrite(self._opened().fileno(), data, self._size)
        except OSError:  # The disk is full.
            return False
        if written < len(data):
            return False
        self.places[key] = (self._size, written)
        self._size += written
        return True

    def keys(self) -> list[str]:
        """Those that were stored."""
        return list(self.places)

    def describe(self, name: str, text: str) -> str:
        """Keeps a text about the whole cache unless there is one. Returns the one that is kept."""
        return self._about.setdefault(name, text)

    def about(self, name: str) -> Optional[str]:
        """A text about the whole cache; None if there is none."""
        return self._about.get(name)

    def close(self) -> None:
        """In the process that made it, it stays; others open it again when they need it."""
        if os.getpid() != self._maker:
            self._close()

    def remove(self) -> None:
        """In the process that made it: nobody can open it any more."""
        if os.getpid() == self._maker:
            self._close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "_maker": None}

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _opened(self) -> Any:
        if self._file is None:
            self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115
        return self._file
