"""Makes the samples of a dataset in forked processes, in order. Not thread safe."""

from __future__ import annotations

import ctypes
import itertools
import multiprocessing
import os
import pickle
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any, Optional

from .._cache.child import begin_child, death, pickled_error, raised_in_child
from .._cache.entry import NotCacheable
from .._worker.held_interrupt import HeldInterrupt
from .pieces import Piece, Pieces, SampleFailed

_AHEAD = 16
"""Pieces of a process that wait for those of others."""
_PR_SET_PDEATHSIG = 1
_WAITING = 256 << 20
"""Bytes of all of them."""


class Makers:
    """`workers` processes, which make the samples with the numbers `wanted`: pieces come in their
    order. `close()` ends them; so does the end of this process. They close the descriptor `lock`.
    """

    def __init__(
        self, pieces: Pieces, wanted: list[range], workers: int, lock: Optional[int] = None
    ) -> None:
        self._total = sum(len(numbers) for numbers in wanted)
        self._waiting = 0
        self._receivers: list[Any] = []
        self._processes: list[Any] = []
        self._queues: list[deque[bytes]] = []
        self._ended: set[int] = set()
        self._lock = lock
        try:
            for worker in range(workers):
                self._start(pieces, itertools.islice(_numbers(wanted), worker, None, workers))
        except BaseException:
            self.close()
            raise

    def _start(self, pieces: Pieces, numbers: Iterator[int]) -> None:
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        self._receivers.append(receiver)
        arguments = (pieces, numbers, sender, list(self._receivers), self._lock)
        process = context.Process(target=_work, args=arguments, daemon=False)
        try:
            with HeldInterrupt(), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # As workers of a DataLoader.
                process.start()
        finally:
            sender.close()
        self._processes.append(process)
        self._queues.append(deque())

    def __iter__(self) -> Iterator[Piece]:
        """Raises SampleFailed; NotCacheable for what a sample cannot be."""
        for turn in range(self._total):
            worker = turn % len(self._queues)
            while not self._queues[worker]:
                self._receive(worker)
            data = self._queues[worker].popleft()
            self._waiting -= len(data)
            yield _piece(data)

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for receiver in self._receivers:
            receiver.close()

    def _receive(self, wanted: int) -> None:
        """From the process `wanted`, or from others that have something. Raises RuntimeError."""
        if wanted in self._ended:
            self._processes[wanted].join()
            code = self._processes[wanted].exitcode
            raise RuntimeError(f"prepare: {death(code).partition(': ')[2]}")
        full = self._waiting > _WAITING
        open_ones = [
            number for number, queue in enumerate(self._queues)
            if number == wanted
            or (not full and len(queue) < _AHEAD and number not in self._ended)
        ]  # fmt: skip
        ready = wait([self._receivers[number] for number in open_ones])
        for number in open_ones:
            if self._receivers[number] not in ready:
                continue
            try:
                data = self._receivers[number].recv_bytes()
            except (EOFError, ConnectionError):
                self._ended.add(number)
                continue
            self._waiting += len(data)
            self._queues[number].append(data)


def _numbers(wanted: Iterable[range]) -> Iterator[int]:
    return itertools.chain.from_iterable(wanted)


def _piece(data: bytes) -> Piece:
    content = pickle.loads(data)
    if isinstance(content, Piece):
        return content
    index, error, text = content
    raised = raised_in_child(error, text)
    raise raised if isinstance(raised, NotCacheable) else SampleFailed(index, raised)


def _work(
    pieces: Pieces, numbers: Iterator[int], sender: Any, others: list[Any], lock: Optional[int]
) -> None:
    begin_child()
    _end_with_parent()
    if lock is not None:
        os.close(lock)
    for receiver in others:
        receiver.close()  # Else writing would not fail once the parent has ended.
    try:
        for number in numbers:
            sender.send_bytes(_made(pieces, number))
    except BaseException:  # The parent has ended.
        pass
    finally:
        sender.close()
        os._exit(0)  # Nothing of the parent's is ended here.


def _end_with_parent() -> None:
    """The kernel kills this process when that which has forked it ends, however it does so."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):  # It then ends when it has made its next sample.
        pass


def _made(pieces: Pieces, number: int) -> bytes:
    try:
        return pickle.dumps(pieces.make(number), protocol=5)
    except BaseException as error:
        return pickle.dumps((number, pickled_error(error), traceback.format_exc()))
