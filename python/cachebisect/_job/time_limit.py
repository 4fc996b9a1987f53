"""A limit on how long the training thread itself computes before anything is measured."""

from __future__ import annotations

import signal
import threading
from typing import Any


class TimeLimit:
    """As a context: after `seconds` a TimeoutError is raised inside, and `is_over` is true.

    By SIGALRM: in other threads than the main one, and in programs that use it, there is no limit.
    """

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._seconds = seconds
        self._is_set = False

    def __enter__(self) -> TimeLimit:
        in_main = threading.current_thread() is threading.main_thread()
        is_free = in_main and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        if is_free and signal.getitimer(signal.ITIMER_REAL)[0] == 0:
            signal.signal(signal.SIGALRM, self._end)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
            self._is_set = True
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_set:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _end(self, _signal: int, _frame: Any) -> None:
        self.is_over = True
        raise TimeoutError(f"it takes more than {self._seconds:.0f} s")
