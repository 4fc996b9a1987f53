"""What sending a batch from a worker process would cost, where the training process loads.

A process of its own sends copies of one batch, as a worker does: through a queue, in shared memory.
It runs no code of the user's. Not thread safe.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from statistics import median
from typing import Any, Optional

from .._cache.child import begin_child
from .._chain import tree_sizes, trees
from .._chain.free import free_shared_memory
from .._worker.held_interrupt import HeldInterrupt

_BATCHES = 12
_FIRST = 2
"""Batches before those that count."""
_MOST_BYTES = 256 << 20
"""To send: of large batches fewer are sent, for a user waits meanwhile."""
_AHEAD = 2
"""Batches on their way, as DataLoader has them."""
_SECONDS = 5.0
"""Within which a batch comes."""
_ARRIVES = 2e-3
"""After a batch was handed to the queue, it is there."""
_END_SECONDS = 2.0
_PAGE = 4096
_MADE, _CPU_BEFORE, _CPU_AFTER, _COPYING = range(4)


@dataclass(frozen=True)
class SendingCost:
    """What a batch costs, in seconds. `worker_seconds`: beyond what making it where it is used
    takes."""

    worker_seconds: float
    trainer_seconds: float

    def to_json(self) -> dict[str, float]:
        """`sending` of docs/extend/protocol.md."""
        return dict(vars(self))


def sending_cost(batch: Any) -> Optional[SendingCost]:
    """None where workers are not forked, without room in shared memory, of a batch that is not on
    the CPU, and where it fails. Raises KeyboardInterrupt alone."""
    try:
        return _measured(batch) if _can_be_sent(batch) else None
    except Exception:
        return None


def _can_be_sent(batch: Any) -> bool:
    """Asking for the start method would fix it for the program."""
    method = multiprocessing.get_start_method(allow_none=True)
    if (method or multiprocessing.get_all_start_methods()[0]) != "fork":
        return False
    tensors = [leaf for leaf in trees.leaves(batch) if trees.is_tensor(leaf)]
    room = 4 * (_AHEAD + 2) * tree_sizes.nbytes(batch)
    return (
        bool(tensors)
        and all(trees.is_dense(tensor) and tensor.device.type == "cpu" for tensor in tensors)
        and room <= (free_shared_memory() or 0)
    )


def batches_to_send(batch: Any) -> int:
    """As many as fit, but some that count."""
    fitting = _MOST_BYTES // max(1, int(tree_sizes.nbytes(batch)))
    return max(_FIRST + _AHEAD, min(_BATCHES, fitting))


def _measured(batch: Any) -> SendingCost:
    import torch.multiprocessing

    context = torch.multiprocessing.get_context("fork")
    asked, asks = context.Pipe(duplex=False)
    sent, notes = context.Queue(), context.RawArray("d", 4)
    count = batches_to_send(batch)
    arguments = (batch, count, asked, asks, sent, notes)
    process = context.Process(target=_send, args=arguments, daemon=True)
    with HeldInterrupt(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # As workers of a DataLoader are.
        process.start()
    try:
        asked.close()
        for _ in range(_AHEAD):
            asks.send(True)
        seconds = []
        for number in range(count):
            _wait_until(notes, number + 1, process)
            began = time.perf_counter()
            received = sent.get(timeout=_SECONDS)
            if number + _AHEAD < count:
                asks.send(True)
            _touch(received)
            del received
            seconds.append(time.perf_counter() - began)
        asks.close()
        process.join(_END_SECONDS)
        worker = (notes[_CPU_AFTER] - notes[_CPU_BEFORE]) / (count - _FIRST)
        return SendingCost(max(0.0, worker - notes[_COPYING]), median(seconds[_FIRST:]))
    finally:
        process.kill()
        process.join(_END_SECONDS)
        asks.close()
        sent.close()


def _wait_until(notes: Any, made: int, process: Any) -> None:
    """So many batches were made, and have arrived."""
    until = time.monotonic() + _SECONDS
    while notes[_MADE] < made:
        if time.monotonic() > until or not process.is_alive():
            raise TimeoutError("no batch was sent")
        time.sleep(_ARRIVES / 4)
    time.sleep(_ARRIVES)


def _touch(batch: Any) -> None:
    """The step reads it: the system enters its pages, a few at a time."""
    for leaf in trees.leaves(batch):
        if trees.is_tensor(leaf) and leaf.numel() > 0:
            leaf.reshape(-1)[:: max(1, _PAGE // leaf.element_size())].clone()


def _send(batch: Any, count: int, asked: Any, asks: Any, sent: Any, notes: Any) -> None:
    """The child. It ends when nobody asks any more: what it shares is there until then."""
    begin_child()
    try:
        asks.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # A queue tells there of what it cannot send.
        ForkingPickler.dumps(trees.clone(batch))
        shared = [trees.is_tensor(leaf) for leaf in trees.leaves(batch)]
        notes[_COPYING] = _copying_seconds(batch)
        for number in range(count):
            asked.recv()
            if number == _FIRST:
                notes[_CPU_BEFORE] = time.process_time()
            sent.put(trees.clone_as_allocated(batch, shared))
            notes[_MADE] = number + 1
        sent.close()
        sent.join_thread()
        notes[_CPU_AFTER] = time.process_time()
        asked.recv()
    finally:
        os._exit(0)  # Nothing of the parent's is ended here.


def _copying_seconds(batch: Any) -> float:
    """CPU time of a copy in private memory, which collate makes in any process."""
    seconds = []
    for _ in range(3):
        began = time.thread_time()
        trees.clone(batch)
        seconds.append(time.thread_time() - began)
    return median(seconds)
