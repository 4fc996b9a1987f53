"""A limit on how long the workers of a shadow loader may take before anything is measured."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Optional

from .shadow import LoaderGone, ShadowLoader


class Patience:
    """As a context: after `seconds` it kills the workers, and LoaderGone says that they gave
    nothing. Without workers there is no limit: the training thread itself loads."""

    def __init__(self, seconds: float, shadow: ShadowLoader) -> None:
        self._seconds = seconds
        self._shadow = shadow
        self._is_over = False
        self._timer: Optional[threading.Timer] = None

    def __enter__(self) -> None:
        if self._shadow.workers > 0:
            self._timer = threading.Timer(self._seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._is_over and isinstance(error, LoaderGone):
            raise LoaderGone(
                f"the workers of a second loader with the same arguments gave no batch within "
                f"{self._seconds:.0f} s: they may wait for each other, for those of the script, or "
                "for a lock that only one process can have"
            ) from error

    def _end(self) -> None:
        self._is_over = True
        for pid in self._shadow.area.pids():
            with contextlib.suppress(OSError):
                if pid > 0 and pid != os.getpid():  # Of workers that are threads.
                    os.kill(pid, signal.SIGKILL)
