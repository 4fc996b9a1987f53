"""Memory that libraries hold where Python does not see it, such as the frames of a video decoder.

Linux. Thread safe: no state.
"""

from __future__ import annotations

import ctypes
import functools
import os
import time
from typing import Any, Callable, Optional


def allocated_bytes() -> int:
    """Bytes that this process has allocated and not freed; resident bytes where the C library does
    not tell."""
    tell = _mallinfo2()
    if tell is not None:
        info = tell()
        return int(info.uordblks + info.hblkhd)
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def settled_bytes() -> int:
    """allocated_bytes(), once threads of libraries that decode ahead have no more room."""
    now = allocated_bytes()
    for _ in range(_LONGEST_WAIT):
        before = now
        time.sleep(_WAIT_SECONDS)
        now = allocated_bytes()
        if now - before < _LITTLE:
            break
    return now


_WAIT_SECONDS = 0.02
_LONGEST_WAIT = 25
_LITTLE = 1 << 20


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    ]  # fmt: skip


@functools.lru_cache(maxsize=1)
def _mallinfo2() -> Optional[Callable[[], Any]]:
    """That of glibc from 2.33, if the process allocates by it."""
    try:
        tell = ctypes.CDLL(None).mallinfo2
        tell.argtypes, tell.restype = [], _Mallinfo2
        before = tell()
        kept = ctypes.create_string_buffer(1 << 20)
        after = tell()
    except (AttributeError, OSError):
        return None
    grown = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd
    return tell if grown >= len(kept) else None
