"""The child processes of this one."""

from __future__ import annotations

import multiprocessing
import time

_SECONDS = 60.0
_POLL_SECONDS = 0.01


def children_left(wanted: int = 0) -> int:
    """How many there are once those that were terminated have ended, which torch does not wait for.

    Waits until `wanted` are left, for a minute at most.
    """
    until = time.monotonic() + _SECONDS
    while len(multiprocessing.active_children()) > wanted and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
    return len(multiprocessing.active_children())
