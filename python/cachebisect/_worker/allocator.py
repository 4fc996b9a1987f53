"""What glibc does with memory that is freed: `malloc` of a live arm.

Large buffers, and the free end of the heap, go back to the system, which gives zeroed pages for the
next sample: a page fault for each. Stays until the process ends. Not thread safe.
"""

from __future__ import annotations

import ctypes
from typing import Any

KEEP = "keep"
"""Freed memory stays with the process."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_MAX = -4
"""As malloc.h of glibc numbers the parameters of mallopt()."""
_OTHERS = {"mallctl": "jemalloc", "tc_malloc": "tcmalloc", "mi_malloc": "mimalloc"}
"""Functions that allocators which take the place of glibc's have."""


def why_not(library: Any = None) -> str:
    """Why this process, and workers like it, cannot keep what they free; empty if they can.
    `library`: in place of the functions of this process."""
    functions = ctypes.CDLL(None) if library is None else library
    other = next((name for known, name in _OTHERS.items() if hasattr(functions, known)), "")
    if other:
        return f"this process allocates by {other}, not by glibc"
    if not all(hasattr(functions, name) for name in ("mallopt", "gnu_get_libc_version")):
        return "the C library is not glibc, and has no such setting"
    return ""


def keep_memory() -> None:
    """From now on this process keeps the memory that it frees, for its next buffers. Does nothing
    where why_not() says why."""
    if why_not():
        return
    library = ctypes.CDLL(None)
    library.mallopt(_M_MMAP_MAX, 0)
    library.mallopt(_M_TRIM_THRESHOLD, -1)
