"""What holds the threads of a pipeline back between two blocks. Thread safe."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - It registers what joins the threads of executors.
import contextlib
import os
import threading
import weakref
from typing import Any

_lock = threading.Lock()
_gates: weakref.WeakSet[Gate] = weakref.WeakSet()
_watched_in = 0
"""The process whose end is watched."""


class Gate:
    """Lets items in while it is open. It ends where the program ends: Python waits for the threads
    of executors then, which may wait here."""

    def __init__(self, is_open: bool = True) -> None:
        self._moves = threading.Event()
        self._has_ended = False
        if is_open:
            self._moves.set()
        _end_with_program(self)

    def open(self) -> None:
        """Items pass from now on."""
        self._moves.set()

    def close(self) -> None:
        """Who asks for an item waits."""
        if not self._has_ended:
            self._moves.clear()

    def end(self) -> None:
        """Nobody waits any more, and no item passes."""
        self._has_ended = True
        self._moves.set()

    def lets_in(self) -> bool:
        """Waits while it is closed. False: it has ended."""
        if not self._moves.is_set():
            self._moves.wait()
        return not self._has_ended


def _end_with_program(gate: Gate) -> None:
    global _watched_in
    with _lock:
        _gates.add(gate)
        if _watched_in == os.getpid():
            return
        _watched_in = os.getpid()
    # What was registered last is called first: before that which joins the threads of executors.
    register: Any = getattr(threading, "_register_atexit", None)
    if register is not None:
        with contextlib.suppress(RuntimeError):  # The program ends now.
            register(_end_all)


def _end_all() -> None:
    with _lock:
        gates = list(_gates)
    for gate in gates:
        gate.end()
