"""One shard while it is written, and whether one is still what was written. Not thread safe."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from .archive import END
from .folder import PART

_CHUNK = 1 << 20


class ShardFile:
    """Writes `path` under another name; `close()` makes it whole, `path` is then to be renamed by
    `publish()`. Left as a context, the part is removed. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._file: Any = self._part.open("wb", buffering=_CHUNK)
        self._hash = hashlib.sha256()
        self.bytes = 0

    def add(self, data: bytes) -> int:
        """Where `data` lies in the file."""
        offset = self.bytes
        self._file.write(data)
        self._hash.update(data)
        self.bytes += len(data)
        return offset

    def close(self) -> str:
        """Ends the archive. Returns its SHA-256."""
        self.add(END)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._hash.hexdigest()

    def publish(self) -> None:
        os.replace(self._part, self._path)

    def discard(self) -> None:
        """Removes what is not published."""
        try:
            self._file.close()
        except OSError:  # What was not written yet has no room.
            pass
        self._part.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Raises OSError."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(_CHUNK):
            found.update(data)
    return found.hexdigest()
