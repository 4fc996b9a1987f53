"""A limit on how long the workers of a shadow loader may take before anything is measured."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Optional

from .shadow import LoaderGone, ShadowLoader

_AGAIN_SECONDS = 0.2


class Patience:
    """As a context: after `seconds` it kills the workers, and LoaderGone says that they gave
    nothing. Without workers there is no limit: the training thread itself loads."""

    def __init__(self, seconds: float, shadow: ShadowLoader) -> None:
        self._seconds = seconds
        self._shadow = shadow
        self._is_over = False
        self._left = threading.Event()
        self._watch: Optional[threading.Thread] = None

    def __enter__(self) -> None:
        if self._shadow.workers > 0:
            self._watch = threading.Thread(target=self._wait, daemon=True)
            self._watch.start()

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        self._left.set()
        if self._watch is not None:
            self._watch.join()
        if self._is_over and isinstance(error, LoaderGone):
            raise LoaderGone(
                f"the workers of a second loader with the same arguments gave no batch within "
                f"{self._seconds:.0f} s: they may wait for each other, for those of the script, or "
                "for a lock that only one process can have"
            ) from error

    def _wait(self) -> None:
        """Workers may begin later than their time is over, so that they are killed until the
        context is left."""
        seconds = self._seconds
        spared = {0, os.getpid()}  # Not begun yet; workers that are threads.
        while not self._left.wait(seconds):
            self._is_over, seconds = True, _AGAIN_SECONDS
            for pid in set(self._shadow.area.pids()) - spared:
                spared.add(pid)  # It may soon be that of another process.
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
