"""One script that is timed: what is followed, until when, and what is written at the end.

Everything runs in the thread that trains, which is the main thread. No error of ours may stop the
script.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Optional

from .batch_timer import BatchTimer, Row
from .hooks import ForwardHooks
from .marks import CudaMarks, HostMarks, Marks

FILE_VERSION = 1


class Limits:
    """When to end; 0: never."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.epochs = int(options.get("epochs", 0))
        self.batches = int(options.get("max_batches", 0))
        self.seconds = float(options.get("max_seconds", 0))

    def reached(self, timer: BatchTimer, seconds: float) -> Optional[str]:
        """The name of the limit that has been reached."""
        if self.epochs and timer.epochs >= self.epochs:
            return "epochs"
        if self.batches and timer.batches >= self.batches:
            return "max_batches"
        if self.seconds and seconds >= self.seconds:
            return "max_seconds"
        return None


class TimingSession:
    def __init__(self, options: Mapping[str, Any]) -> None:
        self.timer = BatchTimer(HostMarks())
        self.giver: Optional[object] = None
        """The iterator that gave the last batch."""
        self.loads = False
        """True while an iterator makes a batch."""
        self._file = str(options["file"])
        self._continues = options.get("then") == "continue"
        self._limits = Limits(options)
        self._pid = os.getpid()
        self._over = False
        self._forward: Optional[ForwardHooks] = None
        self._learnt = False
        self._loader: dict[str, Any] = {}
        self._began: Optional[float] = None
        self._asked: Optional[float] = None
        self._first_batch = 0.0
        self._device = "CPU"

    @property
    def follows(self) -> bool:
        """False in children, in other threads and after the end."""
        return (
            not self._over
            and os.getpid() == self._pid
            and threading.current_thread() is threading.main_thread()
        )

    def gradients(self) -> bool:
        return bool(sys.modules["torch"].is_grad_enabled())

    def load_begun(self) -> None:
        if not self._learnt and self.timer.trained:
            self._begin_timing()
        self.timer.load_begun()
        if self._asked is None:
            self._asked = time.perf_counter()
        if self.timer.batches > 0 and self._began is None:
            self._began = time.perf_counter()
        seconds = 0.0 if self._began is None else time.perf_counter() - self._began
        self._end_if(self._limits.reached(self.timer, seconds))

    def iterator_made(self, loader: Any) -> None:
        self.timer.load_ended(None)
        if self._forward is None:
            self._forward = ForwardHooks(self, sys.modules["torch.nn.modules.module"])
            self._forward.learn()

    def load_ended(self, loader: Any, batch: Any) -> None:
        if self._first_batch == 0.0 and self._asked is not None:
            self._first_batch = time.perf_counter() - self._asked
        self.timer.load_ended(batch_size(batch) or loader.batch_size)
        if not self._learnt:
            self._loader = {"workers": loader.num_workers, "batch_size": loader.batch_size or 0}

    def trained_with(self, iterator: Any) -> None:
        """A training batch came from it. `iterator`: that of PyTorch."""

    def epoch_ended(self, trained: bool) -> None:
        self.timer.epoch_ended(trained)
        self._end_if(self._limits.reached(self.timer, 0.0))

    def end(self, ended_by: str) -> None:
        """Writes what was timed, and lets go of the script. Once, in the process that was timed."""
        if self._over or os.getpid() != self._pid:
            return
        self._over = True
        if self._forward is not None:
            self._forward.remove()
        self.timer.finish()
        if self._learnt:
            self._write(ended_by)

    def _begin_timing(self) -> None:
        """After the first training batch, which has shown what the script trains with."""
        self._learnt = True
        if self._forward is not None:
            self._forward.learnt()
        self.timer = BatchTimer(self._marks())

    def _marks(self) -> Marks:
        torch = sys.modules["torch"]
        if not torch.cuda.is_available() or not torch.cuda.is_initialized():
            return HostMarks()
        self._device = str(torch.cuda.get_device_name())
        return CudaMarks(torch)

    def _end_if(self, limit: Optional[str]) -> None:
        if limit is None:
            return
        self.end(limit)
        if not self._continues:
            raise SystemExit(0)

    def _write(self, ended_by: str) -> None:
        content = {
            "version": FILE_VERSION,
            "name": os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "script",
            "device": self._device,
            "torch": str(sys.modules["torch"].__version__),
            **self._loader,
            "ended_by": ended_by,
            "first_batch_seconds": self._first_batch,
            "call_seconds": call_seconds(self._marks()),
            "epochs": self.timer.epochs,
            "batches": {
                name: [getattr(row, name) for row in self.timer.rows] for name in Row._fields
            },
        }
        write_json(self._file, content)


def write_json(path: str, content: Any) -> None:
    """The whole file or none."""
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.replace(temporary, path)


def batch_size(batch: Any) -> Optional[int]:
    """The length of the first tensor in a batch."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) > 0 else None
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return next((size for part in batch if (size := batch_size(part))), None)
    return None


def call_seconds(marks: Marks) -> float:
    """What timing one batch costs the training thread: the calls of many batches, without work."""
    batches, least = 200, float("inf")
    for _ in range(5):
        timer = BatchTimer(marks, untimed=0)
        began = time.perf_counter()
        for _ in range(batches):
            timer.load_begun()
            timer.load_ended(1)
            timer.forward_begun()
            timer.backward_begun()
            timer.backward_ended()
            timer.optimizer_begun()
            timer.optimizer_ended()
        least = min(least, (time.perf_counter() - began) / batches)
    return least
