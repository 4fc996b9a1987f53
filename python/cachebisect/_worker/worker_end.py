"""Ends the workers of a DataLoader, also those that are stuck in the user's code."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import types
from collections.abc import Sequence
from multiprocessing import connection
from typing import Any, Optional

from .tasks import SharedArea

_PATIENCE_SECONDS = 2.0
_DEATH_SECONDS = 10.0
"""What the system may take to report the end of a process whose connection has ended."""
_POLL_SECONDS = 0.005


def end_workers(iterator: Any) -> None:
    """Ends the workers of a DataLoader's iterator now, even while a traceback still holds it."""
    shutdown = getattr(iterator, "_shutdown_workers", None)
    if callable(shutdown):
        # A worker that aborts while it ends is reported by a signal handler; the others end too.
        with contextlib.suppress(RuntimeError):
            shutdown()


def end_iterator(iterator: Any) -> None:
    """Ends what any iterator of batches holds: workers, a generator's own clean-up, and the threads
    and processes of Grain."""
    end_workers(iterator)
    close = getattr(iterator, "close", None)
    if isinstance(getattr(iterator, "gi_frame", None), types.FrameType) and callable(close):
        close()
    elif callable(getattr(iterator, "start_prefetch", None)):
        inner: Any = getattr(iterator, "_iterator", None)  # DataLoader's has no close().
        with contextlib.suppress(Exception):  # Nobody waits for what it would give.
            (close or inner.close)()


def death_of_worker(error: Exception, workers: Sequence[Any]) -> Optional[str]:
    """What an error of a DataLoader says of a worker that has died; None if it is no such error.

    A worker that dies while it sends a batch closes a connection, before torch notices its death.
    """
    ends = ("exited unexpectedly", "is killed by signal", "DataLoader timed out")
    if isinstance(error, RuntimeError) and any(words in str(error) for words in ends):
        return str(error)
    if not isinstance(error, (EOFError, ConnectionError)):
        return None
    ended = connection.wait([worker.sentinel for worker in workers], _DEATH_SECONDS)
    for worker in workers:
        if worker.sentinel in ended:  # A process lets go of it before it is dead.
            worker.join(_DEATH_SECONDS)
        code = worker.exitcode
        if code is None:
            continue
        how = "exited unexpectedly"
        if code < 0:
            how = f"is killed by signal: {signal.strsignal(-code)}"
        return f"DataLoader worker (pid {worker.pid}) {how}"
    return None


def hint(death: str) -> str:
    """What may help against such a death."""
    if "killed" not in death.lower():
        return ""
    return (
        ". Often memory has run out: two sets of workers run while a loader is measured. "
        "Try fewer workers, or a smaller --cache-host"
    )


def interrupt_stuck(area: SharedArea, issued: int) -> None:
    """Sends SIGINT to workers that do not return from their tasks, as Ctrl-C at a terminal would.

    torch waits 5 s for each of them otherwise. `issued`: tasks so far, dealt out in turns; all of
    them are stale by now, so that workers that are not stuck return soon.
    """
    newest = {(number - 1) % area.rows: number for number in _last(issued, area.rows)}
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while newest:
        newest = {w: number for w, number in newest.items() if area.last_done(w) < number}
        if time.monotonic() > deadline:
            break
        if newest:
            time.sleep(_POLL_SECONDS)
    alive = {process.pid for process in multiprocessing.active_children()}
    pids = area.pids()
    for worker in newest:
        if pids[worker] in alive:
            with contextlib.suppress(ProcessLookupError):  # It has ended meanwhile.
                os.kill(pids[worker], signal.SIGINT)


def _last(issued: int, count: int) -> range:
    return range(max(1, issued - count + 1), issued + 1)
