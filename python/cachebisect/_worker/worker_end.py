"""Ends the workers of a DataLoader, also those that are stuck in the user's code."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from typing import Any

from .tasks import SharedArea

_PATIENCE_SECONDS = 2.0
_POLL_SECONDS = 0.005


def end_workers(iterator: Any) -> None:
    """Ends the workers of a DataLoader's iterator now, even while a traceback still holds it."""
    shutdown = getattr(iterator, "_shutdown_workers", None)
    if callable(shutdown):
        # A worker that aborts while it ends is reported by a signal handler; the others end too.
        with contextlib.suppress(RuntimeError):
            shutdown()


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
            os.kill(pids[worker], signal.SIGINT)


def _last(issued: int, count: int) -> range:
    return range(max(1, issued - count + 1), issued + 1)
