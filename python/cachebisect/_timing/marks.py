"""Points in time: on the host's clock, or in the stream of a GPU."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Protocol


class Marks(Protocol):
    """Where a batch's parts begin and end. A mark is opaque; used in one thread."""

    def mark(self) -> Any:
        """The present, or the present end of what is queued."""

    def happened(self, mark: Any) -> bool:
        """Does not wait."""

    def seconds(self, begin: Any, end: Any) -> float:
        """Between two marks that have happened."""

    def reuse(self, marks: Iterable[Any]) -> None:
        """These marks are not needed any more."""

    def finish(self) -> None:
        """Waits until all marks have happened."""


class HostMarks:
    """For steps that are done when their calls return."""

    def mark(self) -> float:
        return time.perf_counter()

    def happened(self, mark: float) -> bool:
        return True

    def seconds(self, begin: float, end: float) -> float:
        return end - begin

    def reuse(self, marks: Iterable[float]) -> None:
        pass

    def finish(self) -> None:
        pass


class CudaMarks:
    """Events of the current stream: nothing waits for the GPU."""

    def __init__(self, torch: Any) -> None:
        self._cuda = torch.cuda
        self._free: list[Any] = []

    def mark(self) -> Any:
        event = self._free.pop() if self._free else self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def happened(self, mark: Any) -> bool:
        return bool(mark.query())

    def seconds(self, begin: Any, end: Any) -> float:
        return float(begin.elapsed_time(end)) / 1000

    def reuse(self, marks: Iterable[Any]) -> None:
        self._free.extend(marks)

    def finish(self) -> None:
        self._cuda.synchronize()
