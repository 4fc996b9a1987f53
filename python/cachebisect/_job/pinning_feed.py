"""Serves kept host batches, pinned live. Not thread safe."""

from __future__ import annotations

import queue
import sys
import threading
from typing import Any, Optional, Union

from .._chain import pinning
from .._chain.pinning import Spent, Stopwatch
from .feeds import Feed, HeldBatches, HeldFeed


class PinningFeed(Feed):
    """As DataLoader pins: in the training thread, or, with `in_flight` above 0, in a thread of its
    own that is ahead of the training thread by at most so many batches.
    """

    def __init__(self, held: HeldBatches, limit: int, in_flight: int) -> None:
        super().__init__()
        self._host = HeldFeed(held, held.host, limit)
        self._thread = _PinThread(self._host, in_flight) if in_flight > 0 else None

    def begin(self, block: int) -> None:
        if self._thread is not None:
            self._thread.start()

    def take(self) -> tuple[Any, int]:
        watch = Stopwatch()
        if self._thread is None:
            batch, size, spent = _pinned(self._host)
        else:
            batch, size, spent = self._thread.take()
            self.waiting.starved += watch.spent().busy
        self.waiting.add_pinned(spent)
        return batch, size

    def end(self) -> None:
        if self._thread is not None:
            self._thread.end()


_Pinned = tuple[Any, int, Spent]


def _pinned(host: HeldFeed) -> _Pinned:
    batch, size = host.take()
    watch = Stopwatch()
    batch = pinning.pin(batch)
    return batch, size, watch.spent()


class _PinThread:
    """Pins one batch for each request, in order. Its queues have no limit, as those of torch."""

    def __init__(self, host: HeldFeed, in_flight: int) -> None:
        self._host = host
        self._in_flight = in_flight
        self._requests: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Union[_Pinned, Exception]] = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None
        self._over = False

    def start(self) -> None:
        cuda = sys.modules["torch"].cuda
        device = cuda.current_device() if cuda.is_available() else None
        self._thread = threading.Thread(target=self._run, args=(device,), daemon=True)
        self._thread.start()
        for _ in range(self._in_flight):
            self._requests.put(True)

    def take(self) -> _Pinned:
        """The next batch. Raises what pinning it raised."""
        done = self._done.get()
        self._requests.put(True)
        if isinstance(done, Exception):
            raise done
        return done

    def end(self) -> None:
        """Waits for the batch that is being pinned."""
        if self._thread is not None:
            self._over = True
            self._requests.put(True)
            self._thread.join()
            self._thread = None

    def _run(self, device: Optional[int]) -> None:
        torch = sys.modules["torch"]
        torch.set_num_threads(1)  # For this thread only; torch's pin thread does the same.
        if device is not None:
            torch.cuda.set_device(device)
        while self._requests.get() and not self._over:
            self._done.put(self._pin_next())

    def _pin_next(self) -> Union[_Pinned, Exception]:
        try:
            return _pinned(self._host)
        except Exception as error:
            return error
