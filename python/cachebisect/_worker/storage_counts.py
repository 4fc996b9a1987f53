"""Makes samples and counts what that asks of storage: files, and requests to servers.

Counts all threads of this process. One worker of a process counts at a time.
"""

from __future__ import annotations

import os
import resource
import threading
from time import perf_counter
from typing import Any, Callable, NamedTuple, Optional, Union

from .._chain import storage_calls as calls
from .._chain.sources import IndexedSource, IterableSource
from .._chain.storage_calls import Call
from .._chain.watched import Watched, Watcher
from .file_watchers import Clients, FileOpens
from .object_stores import ObjectStores
from .request_watchers import request_watchers
from .storage_events import StorageEvents
from .tasks import Stale, StorageWork

_IO_FILE = "/proc/self/io"
_IO_BYTES = 4096
"""More than the file has: one call reads it."""

_turn = threading.Lock()
"""Held by who counts: workers may be threads of one process."""


def count_storage(
    source: Union[IndexedSource, IterableSource],
    work: StorageWork,
    worker: int,
    is_current: Callable[[], bool],
) -> Union[dict[str, Any], Stale]:
    """Fields of `storage` of docs/extend/protocol.md for this worker, and `worker`.

    `is_current`: false once nobody waits for the answer, which is then Stale. Raises what the
    dataset raises; everything that was watched is as before by then.
    """
    makers = _makers(source, work)
    warm_up, _ = makers[0]
    warm_up()  # Opens what is kept open.
    if not _turn.acquire(blocking=False):
        return {"worker": worker, "samples": 0}
    try:
        return _counted(makers[1:], work, worker, is_current)
    finally:
        _turn.release()


Makers = list[tuple[Callable[[], Any], int]]
"""What makes samples, and how many."""


def _makers(source: Union[IndexedSource, IterableSource], work: StorageWork) -> Makers:
    if not work.batches:  # An iterable dataset: each call gives the next.
        return [(source.makers(None)[0], 1)] * (work.samples + 1)
    made: Makers = []
    for indices in work.batches:
        makers = source.makers(indices)
        each = source.count(indices) // len(makers)
        made.extend((make, each) for make in makers)
    return made


def _counted(
    makers: Makers, work: StorageWork, worker: int, is_current: Callable[[], bool]
) -> Union[dict[str, Any], Stale]:
    events = StorageEvents()
    samples = 0
    before = _usage()
    with Watched(_watcher_of(events)):
        began = now = perf_counter()
        for make, count in makers:
            make()
            samples += count
            events.sample += 1
            now = perf_counter()
            if not is_current():
                return Stale()
            if samples >= work.samples or now - began >= work.max_seconds:
                break
    after = _usage()
    counts = {"worker": worker, "samples": samples, "seconds": now - began}
    return {**counts, **_used(before, after), **events.sums(began, now)}


def _watcher_of(events: StorageEvents) -> Callable[[Call], Watcher]:
    watchers = {**FileOpens(events).watchers(), **request_watchers(events)}
    clients, stores = Clients(events), ObjectStores(events)

    def watcher_of(call: Call) -> Watcher:
        if call.what == calls.CLIENT:
            return clients.watcher(call)
        return stores.watcher(call) if call.what == calls.OBJECT_STORE else watchers[call.what]

    return watcher_of


class _Usage(NamedTuple):
    """What this process has used so far."""

    page_faults: int
    io: Optional[dict[str, int]]
    """Fields of /proc/self/io; None if the system does not tell."""
    own_bytes: int
    """Read from that file to learn it, which it does not count yet."""


def _usage() -> _Usage:
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    try:
        descriptor = os.open(_IO_FILE, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, _IO_BYTES)
        finally:
            os.close(descriptor)
        pairs = [line.split(b":") for line in text.splitlines()]
        io = {name.decode(): int(value) for name, value in pairs}
    except (OSError, ValueError):
        return _Usage(faults, None, 0)
    return _Usage(faults, io, len(text))


def _used(before: _Usage, after: _Usage) -> dict[str, Any]:
    """Between two moments, without what reading `before` took."""
    faults = after.page_faults - before.page_faults
    used: dict[str, Any] = {"file_reads": 0, "file_bytes": 0, "disk_bytes": None}
    if before.io is not None and after.io is not None:
        grown = {name: after.io[name] - value for name, value in before.io.items()}
        used = {
            "file_reads": max(0, grown.get("syscr", 0) - 1),
            "file_bytes": max(0, grown.get("rchar", 0) - before.own_bytes),
            "disk_bytes": max(0, grown["read_bytes"]) if "read_bytes" in grown else None,
        }
    return {**used, "page_faults": faults}
