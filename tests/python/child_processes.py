"""The child processes of this one."""

from __future__ import annotations

import multiprocessing
import time

_POLL_SECONDS = 0.01
_MOST_POLLS = 6000


def children_left(wanted: int = 0) -> int:
    """How many there are once those that were terminated have ended, which torch does not wait for.

    Waits until `wanted` are left, for a minute or so at most.
    """
    for _ in range(_MOST_POLLS):
        if len(multiprocessing.active_children()) <= wanted:
            break
        time.sleep(_POLL_SECONDS)
    return len(multiprocessing.active_children())
