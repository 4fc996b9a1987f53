"""Holds Ctrl-C back while this process forks: Python drops what is raised in a fork's callbacks."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any


class HeldInterrupt:
    """Ctrl-C that arrives inside the with block counts at its end, in forked processes at once.

    Does nothing in other threads than the main one, and where the program leaves the signal to the
    system.
    """

    def __enter__(self) -> None:
        self._process = os.getpid()
        self._arrived = False
        self._handler: Any = signal.getsignal(signal.SIGINT)
        self._holds = callable(self._handler) and (
            threading.current_thread() is threading.main_thread()
        )
        if self._holds:
            signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *error: object) -> None:
        if not self._holds:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self._arrived:
            self._handler(signal.SIGINT, None)

    def _note(self, number: int, frame: Any) -> None:
        if os.getpid() == self._process:
            self._arrived = True
        else:
            self._handler(number, frame)
