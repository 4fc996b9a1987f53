"""Threads that make several things side by side, for the thread that waits for them."""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Sequence
from multiprocessing import util
from typing import Any, Callable, Optional

_END_SECONDS = 2.0
"""How long close() waits for what threads have begun."""
_LOOK_SECONDS = 0.1
"""A signal that arrives just before a thread begins to wait does not wake it."""


class StillRunning(Exception):
    """What was asked for was not made in time."""


class SideBySide:
    """At most `count` threads of this process, begun at the first need. They end with close(), and
    with a worker process; a program that ends does not wait for them. One thread at a time may call
    it."""

    def __init__(self, count: int) -> None:
        self.process = os.getpid()
        """Where the threads are: a forked process has none of them."""
        self._count = count
        self._threads: list[threading.Thread] = []
        self._work: queue.SimpleQueue[Optional[_Batch]] = queue.SimpleQueue()
        if multiprocessing.parent_process() is not None:
            util.Finalize(None, self.close, exitpriority=100)

    def map(
        self, make: Callable[[Any], Any], items: Sequence[Any], seconds: Optional[float] = None
    ) -> list[Any]:
        """`make(item)` for each of `items`, in their order.

        Raises what the first of those that fail raises; none is begun after that. If the caller is
        interrupted, threads end what they have begun. Raises StillRunning after `seconds`.
        """
        batch = _Batch(make, items)
        try:
            for number in range(min(self._count, len(items))):
                if number == len(self._threads):
                    self._begin_thread()
                self._work.put(batch)
            return batch.wait(seconds)
        finally:
            batch.stop()

    def close(self) -> None:
        """Ends the threads. Those that are stuck are left behind, and end with the process."""
        for _ in self._threads:
            self._work.put(None)
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))
        self._threads.clear()

    def _begin_thread(self) -> None:
        thread = threading.Thread(
            target=_run, args=(self._work,), name="cachebisect_read", daemon=True
        )
        self._threads.append(thread)  # Ctrl-C may come while it starts.
        try:
            thread.start()
        except RuntimeError:  # The system allows no more.
            self._threads.remove(thread)
            raise


def _run(work: queue.SimpleQueue[Optional[_Batch]]) -> None:
    while True:
        batch = work.get()
        if batch is None:
            return
        batch.work()
        del batch  # Its samples are not kept while the thread waits.


class _Batch:
    """What one call of map() makes. Thread safe."""

    def __init__(self, make: Callable[[Any], Any], items: Sequence[Any]) -> None:
        self._make = make
        self._items = items
        self._made: list[Any] = [None] * len(items)
        self._error: Optional[BaseException] = None
        self._failed = len(items)
        """The first that has failed."""
        self._lock = threading.Lock()
        self._next = 0
        self._end = len(items)
        """Where to stop: at once after an error, as each before it has begun by then."""
        self._running = 0
        self._is_over = threading.Event()
        if not items:
            self._is_over.set()

    def work(self) -> None:
        """Makes one after the other until all have begun."""
        while True:
            with self._lock:
                number = self._next
                if number >= self._end:
                    return
                self._next += 1
                self._running += 1
            try:
                self._made[number] = self._make(self._items[number])
            except BaseException as error:
                self._fail(number, error)
            with self._lock:
                self._running -= 1
                if self._running == 0 and self._next >= self._end:
                    self._is_over.set()

    def _fail(self, number: int, error: BaseException) -> None:
        with self._lock:
            self._end = min(self._end, self._next)
            if number < self._failed:
                self._failed, self._error = number, error

    def wait(self, seconds: Optional[float]) -> list[Any]:
        until = float("inf") if seconds is None else time.monotonic() + seconds
        while not self._is_over.wait(_LOOK_SECONDS):
            if time.monotonic() > until:
                raise StillRunning
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # Its traceback holds this frame.
        return self._made

    def stop(self) -> None:
        """Nothing more is begun."""
        with self._lock:
            self._end = 0
