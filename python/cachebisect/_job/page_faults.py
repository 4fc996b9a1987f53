"""Page faults of workers: memory that they give back to the system and get anew for each batch.

Not thread safe.
"""

from __future__ import annotations

import mmap
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable, Optional

from .._chain import facts

ROUNDS = 3
"""In each of which every worker makes a batch. In the first one, caches and heaps are new."""

_LONGEST_SECONDS = 1.0
"""A round that takes longer is not worth it."""
_LEAST_SHARE = 0.05
"""Of the CPU time of the workers; less is not worth a change."""
_SENDING = 256
"""Pages that making and sending a batch takes, whatever is in it; at most."""
_PAGES = 1024
"""On which a fault is timed."""
_TIMES = 3


@dataclass(frozen=True)
class PageFaults:
    """Of a batch, beyond the pages of shared memory that it is sent in."""

    per_sample: float
    share: float
    """That they take of the CPU time of the workers, at least."""

    @property
    def is_much(self) -> bool:
        """Worth a change."""
        return self.share >= _LEAST_SHARE

    def text(self) -> str:
        """A note."""
        return (
            f"the workers get {self.per_sample:,.0f} pages of memory anew for each sample, which "
            f"takes at least {100 * self.share:.0f}% of their CPU time: their allocator gives back "
            "what is freed"
        )


def worth_counting(batch_seconds: float, workers: int) -> bool:
    """True if the rounds take little time. `batch_seconds`: what a worker takes for a batch."""
    at_once = len(os.sched_getaffinity(0))
    return workers > 0 and batch_seconds * max(1.0, workers / at_once) <= _LONGEST_SECONDS


def count_page_faults(
    make_batches: Callable[[], object],
    pids: Sequence[int],
    samples: int,
    sent_bytes: float,
    seconds: Optional[float] = None,
) -> Optional[PageFaults]:
    """Of the round with the fewest. None if the system counts nothing.

    `make_batches`: has each process of `pids` make a batch. `samples`, `sent_bytes`: of all these
    batches; what is sent lies in shared memory. `seconds`: what a fault takes, else it is timed.
    Raises what `make_batches` raises.
    """
    rounds: list[tuple[int, float]] = []
    before = _used(pids)
    for _ in range(ROUNDS):
        make_batches()
        after = _used(pids)
        rounds.append((after[0] - before[0], after[1] - before[1]))
        before = after
    faults, cpu_seconds = min(rounds)
    if faults <= 0 or cpu_seconds <= 0 or samples <= 0:
        return None
    own = max(0.0, faults - sent_bytes / mmap.PAGESIZE - _SENDING * len(pids))
    cost = seconds_per_fault() if seconds is None else seconds
    return PageFaults(own / samples, min(1.0, own * cost / cpu_seconds))


def seconds_per_fault() -> float:
    """CPU time that a page of zeros takes on this machine, by the fastest of a few trials."""
    return min(_fault_seconds() for _ in range(_TIMES))


def _fault_seconds() -> float:
    ones = b"1" * _PAGES
    with mmap.mmap(-1, _PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        faults, began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.thread_time()
        memory[:: mmap.PAGESIZE] = ones
        seconds = time.thread_time() - began
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    return seconds / max(_PAGES, faults)


def _used(pids: Sequence[int]) -> tuple[int, float]:
    """Page faults, and seconds of CPU time."""
    faults = sum(facts.page_faults(pid) for pid in pids if pid > 0)
    return faults, sum(facts.cpu_seconds(pid) for pid in pids if pid > 0)
