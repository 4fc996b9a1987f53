"""Where each sample lies: a file of rows of 32 bytes, one a sample, read one at a time.

A row: number of the shard (u32), offset and bytes of the sample in it (u64 each), CRC-32 of these
bytes (u32), number of the recipe (u32), CRC-32 of the row and the number of the sample (u32), all
little-endian. Thread safe: no state.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple, Optional

FILE = "positions.bin"
OWN_RECIPE = 0xFFFFFFFF
"""In place of the number of a recipe: the sample has one of its own, in a member."""
_FIELDS = struct.Struct("<IQQII")
_CHECK = struct.Struct("<I")
ROW = _FIELDS.size + _CHECK.size


class Position(NamedTuple):
    shard: int
    offset: int
    size: int
    crc: int
    recipe: int


def row(number: int, position: Position) -> bytes:
    """The row of sample `number`."""
    fields = _FIELDS.pack(*position)
    return fields + _CHECK.pack(_check(number, fields))


def position(number: int, data: bytes) -> Optional[Position]:
    """None if `data` is not the row of sample `number`."""
    if len(data) != ROW:
        return None
    fields = data[: _FIELDS.size]
    if _CHECK.unpack(data[_FIELDS.size :])[0] != _check(number, fields):
        return None
    return Position(*_FIELDS.unpack(fields))


def _check(number: int, fields: bytes) -> int:
    return zlib.crc32(number.to_bytes(8, "little"), zlib.crc32(fields))
