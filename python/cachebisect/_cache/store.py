"""Bytes by key in one SQLite file, with a limit: many processes read and write it.

A write is one transaction: a process that is killed, or a full disk, leaves what was there before.
Each value has a checksum, which covers its key; a value that does not match is not there. Thread
safe; a process that was forked opens the file anew.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Optional

from .sqlite_file import LOG, PAGE, Broken, SqliteFile

MIN_LIMIT = 16 << 20
"""Bytes. Below it the log of the file would be most of it."""

_LARGEST_SHARE, _LARGEST = 1 / 16, 64 << 20
"""Share of the limit that one value may take, and bytes."""
_ROW = 100
"""Bytes of a value's key, checksum and places in both indexes."""
_EVICTED_SHARE = 1 / 64
"""Share of the limit that is evicted at a time."""
_TOUCHED = 64
"""Reads after which LRU writes down what was used."""
_TABLES = """
CREATE TABLE IF NOT EXISTS about(name TEXT PRIMARY KEY, text TEXT);
CREATE TABLE IF NOT EXISTS entry(
  id INTEGER PRIMARY KEY, key TEXT UNIQUE, crc INTEGER, used INTEGER, bytes BLOB);
CREATE INDEX IF NOT EXISTS entry_used ON entry(used);
"""


def limit_for(count: int, bytes_each: float) -> float:
    """The limit of a store that holds `count` values of that size."""
    kept = count * _stored_bytes(bytes_each) + 2 * LOG + PAGE
    return max(min(kept / (1 - _LARGEST_SHARE), kept + _LARGEST), bytes_each / _LARGEST_SHARE)


def _stored_bytes(size: float) -> float:
    """Bytes of the file for a value: small ones share a page, large ones leave half of their last
    (https://www.sqlite.org/fileformat2.html#b_tree_pages)."""
    shared = int(PAGE / (size + _ROW))
    return _ROW + (1.1 * PAGE / shared if shared > 0 else 1.02 * size + PAGE / 2)


class Store:
    """The file `cache.sqlite` in `folder`, which exists.

    `limit`: bytes of the file and its log at most. `evict`: "none" keeps what came first, "fifo"
    evicts it, "lru" evicts what was not used for longest. `durable`: what was written survives the
    end of the machine's power up to the last seconds, and what is left is never damaged.
    """

    def __init__(self, folder: Path, limit: int, evict: str, durable: bool) -> None:
        self.path = folder / "cache.sqlite"
        self.full = False
        """True once a value had no room, and none is evicted."""
        self.largest = min(int(limit * _LARGEST_SHARE), _LARGEST)
        """Bytes of a value that can be stored."""
        self.limit = limit
        self._evict = evict
        self._touched: list[str] = []
        pages = (limit - 2 * LOG - self.largest) // PAGE
        self._file = SqliteFile(self.path, _TABLES, pages, durable)

    def get(self, key: str) -> Optional[bytes]:
        """The bytes of `key`; None if there are none. Raises Broken."""
        ask = "SELECT bytes, crc FROM entry WHERE key = ?"
        row = self._file.ask(lambda file: file.execute(ask, (key,)).fetchone())
        if row is None or not isinstance(row[0], bytes) or _crc(key, row[0]) != row[1]:
            return None
        if self._evict == "lru":
            self._touch(key)
        return row[0]

    def put(self, key: str, data: bytes, again: bool = False) -> bool:
        """Stores `data` under `key`; False if there is no room, or others write now. `again`: there
        may be a value in whose place it comes, also if the file is full.

        Raises Broken.
        """
        if (self.full and not again) or len(data) > self.largest:
            return False
        stored = self._file.ask(lambda file: self._inserted(file, key, data))
        return stored or False

    def describe(self, name: str, text: str) -> str:
        """Writes a text about the whole cache unless there is one. Returns that of the file.

        Raises Broken.
        """

        def write(file: Any) -> str:
            with file:
                file.execute("INSERT OR IGNORE INTO about VALUES(?, ?)", (name, text))
            row = file.execute("SELECT text FROM about WHERE name = ?", (name,)).fetchone()
            return str(row[0])

        found = self._file.ask(write, seconds=10.0)
        if found is None:
            raise Broken(f"the cache {self.path} is locked by another process")
        return found

    def about(self, name: str) -> Optional[str]:
        """A text about the whole cache; None if there is none. Raises Broken."""
        ask = "SELECT text FROM about WHERE name = ?"
        row = self._file.ask(lambda file: file.execute(ask, (name,)).fetchone())
        return None if row is None else str(row[0])

    def keys(self) -> list[str]:
        """Every key that has a value. Raises Broken."""
        rows = self._file.ask(lambda file: file.execute("SELECT key FROM entry").fetchall())
        return [key for (key,) in rows or ()]

    def close(self) -> None:
        """Closes the file in this process; the next use opens it again."""
        self._flush()
        self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_touched": []}

    # Writing

    def _inserted(self, file: Any, key: str, data: bytes) -> bool:
        if not self._file.log_is_short(file):
            return False
        if self._insert(file, key, data):
            return True
        if self._evict == "none":
            self.full = True
            return False
        self._make_room(file, len(data))
        # No room again: the disk is full, not the cache, or another process took it.
        return self._insert(file, key, data)

    def _insert(self, file: Any, key: str, data: bytes) -> bool:
        """False if there is no room."""
        row = (key, _crc(key, data), _next_use(file), data)
        insert = "INSERT OR REPLACE INTO entry(key, crc, used, bytes) VALUES(?,?,?,?)"
        try:
            with file:
                file.execute(insert, row)
        except Exception as error:
            if "full" not in str(error):
                raise
            return False
        return True

    def _make_room(self, file: Any, wanted: int) -> None:
        target, freed, evicted = max(2 * wanted, int(self.limit * _EVICTED_SHARE)), 0, []
        for number, size in file.execute("SELECT id, length(bytes) FROM entry ORDER BY used, id"):
            evicted.append((number,))
            freed += size
            if freed >= target:
                break
        with file:
            file.executemany("DELETE FROM entry WHERE id = ?", evicted)

    def _touch(self, key: str) -> None:
        self._touched.append(key)
        if len(self._touched) >= _TOUCHED:
            self._flush()

    def _flush(self) -> None:
        """Writes down what was used; if others write now, the order is a little older."""
        touched, self._touched = self._touched, []

        def write(file: Any) -> None:
            now = _next_use(file)
            with file:
                rows = [(now, key) for key in touched]
                file.executemany("UPDATE entry SET used = ? WHERE key = ?", rows)

        if touched:
            self._file.ask(write)


def _next_use(file: Any) -> int:
    """A number above those of all values: what is used is moved behind all others."""
    row = file.execute("SELECT max(used) FROM entry").fetchone()
    return int(row[0] or 0) + 1


def _crc(key: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(key.encode()))
