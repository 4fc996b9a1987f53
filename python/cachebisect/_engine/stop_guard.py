"""Lets a message of the engine interrupt the training thread while it waits for a batch.

A loader may be stuck for good: nothing then looks at the socket. The kernel is asked to signal each
message (O_ASYNC), and the handler looks at the socket if the training thread waits, and does
nothing otherwise. No thread is needed, which a program that forks would better not have. The signal
is SIGURG, which nothing happens by unless it is handled.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import struct
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable

_SIGNAL = signal.SIGURG
_F_SETOWN_EX = 15
_F_OWNER_TID = 0
"""Constants of fcntl(2), Linux; Python does not name them."""
_guards: weakref.WeakSet[StopGuard] = weakref.WeakSet()


class _WaitEnds(BaseException):
    """Carries what a check raised through code that catches every Exception."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class StopGuard:
    """`check` looks for messages on `channel` and raises if the wait shall end.

    As a context manager it is around what may be interrupted, and raises what `check` raised. In
    other threads than the main one, in other systems than Linux, and if the program handles the
    signal itself, nothing is interrupted.
    """

    def __init__(self, channel: socket.socket, check: Callable[[], None]) -> None:
        self._channel = channel
        self._check = weakref.WeakMethod(check)
        self._pid = os.getpid()
        self._waits = False
        self._pending = False
        """A signal has arrived since the last check."""
        if _may_handle() and _asks_for_signals(channel):
            signal.signal(_SIGNAL, _arrived)
            _guards.add(self)

    def __enter__(self) -> None:
        self._waits = True
        if self._pending:
            try:
                self._look()
            except _WaitEnds as end:
                raise end.error from None

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        self._waits = False
        if isinstance(error, _WaitEnds):
            raise error.error from None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What is inside is not interrupted, but may be right after it."""
        waits, self._waits = self._waits, False
        try:
            yield
        finally:
            self._waits = waits
        if waits and self._pending:
            self._look()

    def arrived(self) -> None:
        """Called by the signal handler, between two steps of the interpreter."""
        self._pending = True
        if self._waits and os.getpid() == self._pid:
            self._look()

    def close(self) -> None:
        """Before the socket is closed. Children share its flags, and leave them."""
        if self not in _guards:
            return
        _guards.discard(self)
        if os.getpid() == self._pid:
            with contextlib.suppress(OSError, ValueError):
                flags = fcntl.fcntl(self._channel, fcntl.F_GETFL)
                fcntl.fcntl(self._channel, fcntl.F_SETFL, flags & ~os.O_ASYNC)
                if not _guards:
                    signal.signal(_SIGNAL, signal.SIG_DFL)

    def _look(self) -> None:
        self._waits = False  # The check itself is not interrupted; if it raises, nothing waits.
        while self._pending:
            self._pending = False
            check = self._check()
            if check is not None:
                try:
                    check()
                except Exception as error:
                    raise _WaitEnds(error) from None
        self._waits = True


def _arrived(_signal: int, _frame: Any) -> None:
    for guard in list(_guards):
        guard.arrived()


def _may_handle() -> bool:
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(_SIGNAL) in (signal.SIG_DFL, _arrived)


def _asks_for_signals(channel: socket.socket) -> bool:
    """False if the system cannot."""
    by_signal = getattr(fcntl, "F_SETSIG", None)
    if by_signal is None:
        return False
    try:
        # To this thread: another one of the process would not wake this one.
        owner = struct.pack("ii", _F_OWNER_TID, threading.get_native_id())
        fcntl.fcntl(channel, _F_SETOWN_EX, owner)
        fcntl.fcntl(channel, by_signal, int(_SIGNAL))
        flags = fcntl.fcntl(channel, fcntl.F_GETFL)
        fcntl.fcntl(channel, fcntl.F_SETFL, flags | os.O_ASYNC)
    except OSError:
        return False
    return True
