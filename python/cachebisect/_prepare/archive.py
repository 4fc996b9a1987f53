"""The members of one sample as a piece of a tar archive, and back. Thread safe: no state."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable

_BLOCK = 512
_NAME, _SIZE = slice(0, 100), slice(124, 135)
END = bytes(2 * _BLOCK)
"""Ends an archive."""


def key_of(number: int) -> str:
    """The key of a sample for WebDataset."""
    return f"{number:09d}"


def record(key: str, members: Iterable[tuple[str, bytes]]) -> bytes:
    """`members`: names behind the key and contents. Raises ValueError above 8 GiB."""
    parts = []
    for name, data in members:
        info = tarfile.TarInfo(f"{key}.{name}")
        info.size = len(data)
        parts.append(info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict"))
        parts.append(data)
        parts.append(bytes(-len(data) % _BLOCK))
    return b"".join(parts)


def members(key: str, data: memoryview) -> dict[str, memoryview]:
    """The contents by name. Raises ValueError for what is not the record of `key`."""
    found = {}
    prefix = key + "."
    place = 0
    while place < len(data):
        header = data[place : place + _BLOCK]
        name = bytes(header[_NAME]).rstrip(b"\0").decode("ascii")
        size = int(bytes(header[_SIZE]), 8)
        end = place + _BLOCK + size
        if not name.startswith(prefix) or end > len(data):
            raise ValueError(f"{name!r} where sample {key} should be")
        found[name[len(prefix) :]] = data[place + _BLOCK : end]
        place = end + -size % _BLOCK
    return found
