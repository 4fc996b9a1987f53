"""Turns calls of obstore, whose own code no other watcher sees, into events of storage.

Watchers may be called from any thread, several at once.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from time import perf_counter
from typing import Any, Optional

from .._chain.storage_calls import Call
from .._chain.watched import Watcher
from .storage_events import StorageEvents


class ObjectStores:
    """Requests to object stores, and files of those in local folders."""

    def __init__(self, events: StorageEvents) -> None:
        self._events = events
        self._known: dict[int, weakref.ref[Any]] = {}

    def watcher(self, call: Call) -> Watcher:
        return Watcher(functools.partial(self._asks, call.callable), self._has)

    def _asks(self, function: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Before function(store, path, ...). Returns the request, or the path of a file."""
        store = args[0] if args else named["store"]
        path = str(args[1] if len(args) > 1 else named.get("path", ""))
        kinds = [kind.__name__ for kind in type(store).__mro__]
        if "MemoryStore" in kinds:
            return None
        if "LocalStore" in kinds:
            return path if function.startswith("get") else None
        known = self._known.get(id(store))
        if known is None or known() is not store:
            self._known[id(store)] = weakref.ref(store)
            self._events.met_store()
        rest = sorted((name, repr(value)) for name, value in named.items() if name != "store")
        return self._events.sent(perf_counter(), (function, path, repr(rest)))

    def _has(self, note: Any, result: Any, error: Optional[BaseException]) -> None:
        if callable(getattr(result, "add_done_callback", None)):
            result.add_done_callback(functools.partial(self._is_done, note))
        elif isinstance(note, str):
            if error is None:
                self._events.opened(note)
        elif error is not None and not isinstance(error, FileNotFoundError):
            note.raised(error)
        else:
            note.end()
            self._events.received(0 if error is not None else _size(result))

    def _is_done(self, note: Any, future: Any) -> None:
        with contextlib.suppress(Exception):
            if future.cancelled():
                note.end()
            else:
                error = future.exception()
                self._has(note, None if error else future.result(), error)


def _size(result: Any) -> int:
    """Bytes of what obstore gives."""
    if isinstance(result, (list, tuple)):
        return sum(map(len, result))
    first, last = getattr(result, "range", (0, 0))
    if last > first:
        return int(last - first)
    return 0 if isinstance(result, dict) else len(result)
