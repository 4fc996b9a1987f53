"""A SQLite file as this process has it open. Thread safe; a forked process opens the file anew."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

T = TypeVar("T")

PAGE = 16384
"""Bytes."""
LOG = 1 << 20
"""Bytes of the write-ahead log at which it is written back. Beyond twice as many nothing is stored
until it could be: others may read it."""

_WAIT_SECONDS = 0.2
"""A sample that cannot be stored in this time is made again the next time."""

_never_closed: list[Any] = []
"""Connections of the process that this one was forked from: closing them would end its locks."""


class Broken(Exception):
    """The file is no cache, or damaged. The text names it."""


class SqliteFile:
    """`tables`: statements that make them if they are missing. `pages`: at most.

    `durable`: what was written survives the end of the machine's power up to the last seconds, and
    what is left is never damaged.
    """

    def __init__(self, path: Path, tables: str, pages: int, durable: bool) -> None:
        self._path = path
        self._tables = tables
        self._pages = pages
        self._durable = durable
        self._lock = threading.RLock()
        self._connection: Any = None
        self._process = 0

    def ask(self, question: Callable[[Any], T], seconds: float = _WAIT_SECONDS) -> Optional[T]:
        """What `question` returns for the connection; None if others hold the file for longer than
        `seconds`. Raises Broken."""
        with self._lock:
            try:
                connection = self._opened()
                connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
                return question(connection)
            except Exception as error:
                if any(word in str(error) for word in ("locked", "busy")):
                    return None
                text = f"the cache {self._path} cannot be used: {error}; remove its folder"
                raise Broken(text) from error

    def log_is_short(self, connection: Any) -> bool:
        """Writes the log back if it is long; False if others keep it from ending."""
        if self._log_bytes() > 2 * LOG:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return self._log_bytes() <= 2 * LOG

    def close(self) -> None:
        """Closes the file in this process; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def _log_bytes(self) -> int:
        try:
            return os.stat(f"{self._path}-wal").st_size
        except OSError:
            return 0

    def _opened(self) -> Any:
        if self._connection is not None and self._process != os.getpid():
            _never_closed.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection = self._open()
            self._process = os.getpid()
        return self._connection

    def _open(self) -> Any:
        import sqlite3

        connection = sqlite3.connect(
            str(self._path), timeout=10.0, isolation_level="IMMEDIATE", check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._durable else 'OFF'}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG // PAGE}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG}")
            connection.executescript(self._tables)
            connection.execute(f"PRAGMA max_page_count = {self._pages}")
        except BaseException:
            connection.close()
            raise
        return connection
