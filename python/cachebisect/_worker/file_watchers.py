"""Turns calls that open files, and that make clients of servers, into events of storage.

Watchers may be called from any thread, several at once.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import PurePath
from typing import Any, Callable, Optional

from .._chain import storage_calls as calls
from .._chain.storage_calls import Call
from .._chain.watched import Watcher
from .storage_events import StorageEvents

_NOT_A_FILE = None
_UNKNOWN = ""
_PATH_NAMES = ("name", "path", "filename", "file", "source", "where", "database", "fp")
_LAYERS = {
    "urllib3": 0, "requests": 1, "httpx": 1, "aiohttp": 1, "botocore": 2, "aiobotocore": 2,
    "boto3": 2, "fsspec": 3, "s3fs": 3, "gcsfs": 3, "adlfs": 3,
}  # fmt: skip
"""Libraries whose clients hold clients of those below them."""
_LOCAL = ("LocalFileSystem", "MemoryFileSystem")
"""File systems of fsspec that ask no server."""
_MOST_FRAMES = 300


class FileOpens:
    """Files that are opened to be read. What is opened by code that is itself one call of a library
    counts once."""

    def __init__(self, events: StorageEvents) -> None:
        self._events = events
        self._here = _OfThread()

    def watchers(self) -> dict[str, Watcher]:
        """By what a call means."""
        kinds = {
            calls.OPEN: _path_of_open,
            calls.OS_OPEN: _path_of_os_open,
            calls.LIBRARY_OPEN: _path_for_library,
        }
        return {what: self._watcher(path_of) for what, path_of in kinds.items()}

    def _watcher(
        self, path_of: Callable[[tuple[Any, ...], dict[str, Any]], Optional[str]]
    ) -> Watcher:
        def begin(args: tuple[Any, ...], named: dict[str, Any]) -> Optional[tuple[str, int]]:
            path = path_of(args, named)
            return None if path is _NOT_A_FILE else (path, self._here.opened)

        return Watcher(begin, self._has_opened)

    def _has_opened(
        self, note: tuple[str, int], _result: Any, error: Optional[BaseException]
    ) -> None:
        path, opened = note
        if error is None and self._here.opened == opened:
            self._here.opened += 1
            self._events.opened(path)


class _OfThread(threading.local):
    opened = 0
    """Files that this thread has opened."""


def _path_of_open(args: tuple[Any, ...], named: dict[str, Any]) -> Optional[str]:
    """Of open(file, mode)."""
    mode = args[1] if len(args) > 1 else named.get("mode", "r")
    if not ("r" in mode or "+" in mode):
        return _NOT_A_FILE
    return _path_in(args[0] if args else named.get("file"))


def _path_of_os_open(args: tuple[Any, ...], named: dict[str, Any]) -> Optional[str]:
    """Of os.open(path, flags)."""
    flags = args[1] if len(args) > 1 else named["flags"]
    if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_DIRECTORY:
        return _NOT_A_FILE
    return _path_in(args[0] if args else named.get("path"))


def _path_for_library(args: tuple[Any, ...], named: dict[str, Any]) -> Optional[str]:
    """Of a function that is called with a path, or a method that is. What is read by other objects
    is opened by them."""
    if named.get("filesystem") is not None:
        return _NOT_A_FILE
    given = [*args[:2], *(named[name] for name in _PATH_NAMES if name in named)]
    paths = [value for value in given if isinstance(value, (str, bytes, PurePath))]
    return _path_in(paths[0]) if paths and "://" not in str(paths[0]) else _NOT_A_FILE


def _path_in(value: Any) -> Optional[str]:
    if isinstance(value, int):  # A descriptor of what is open.
        return _NOT_A_FILE
    # To ask any other object for its path would run its code.
    return os.fsdecode(value) if isinstance(value, (str, bytes, PurePath)) else _UNKNOWN


class Clients:
    """Clients that the dataset's code makes, not those that they make for themselves."""

    def __init__(self, events: StorageEvents) -> None:
        self._events = events

    def watcher(self, call: Call) -> Watcher:
        layer = _LAYERS[call.package]

        def begin(args: tuple[Any, ...], _named: dict[str, Any]) -> Optional[bool]:
            is_local = type(args[0]).__name__ in _LOCAL
            return None if is_local or _is_below(layer) else True

        return Watcher(begin, self._has_made)

    def _has_made(self, _note: bool, _result: Any, error: Optional[BaseException]) -> None:
        if error is None:
            self._events.made_client()


def _is_below(layer: int) -> bool:
    """True if a library of a higher layer is among the callers."""
    frame: Any = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if _LAYERS.get(package, layer) > layer:
            return True
        frame = frame.f_back
    return False
