"""What the training process tells its workers, and the memory that they share.

A task travels through the index queue of the user's own kind of loader: one per batch. Levels are
the boundaries inside a worker: 0 everything live, 1 after the dataset's own code, 1 + i after
stage i of the members, and one more after collate.
"""

from __future__ import annotations

import time
from collections.abc import Sized
from typing import Any, NamedTuple, Optional

LIVE, REPLAY, BYPASS, FILL, PROBE, INSIDE, STORAGE, PREPARE, UNSEEN, HELD = range(10)
"""Modes of a task. PREPARE: makes a batch up to a level, for an UNSEEN task to go on with. HELD:
the training process has the batch already; the answer says when it may be delivered."""

IDLE = 0
"""No block: every task is stale."""

MAX_MEMBERS = 48
_STAGE_FIELDS = 4
_HEAD_FIELDS = 6
ROW = _HEAD_FIELDS + _STAGE_FIELDS * (MAX_MEMBERS + 2)
_LAST_DONE, _PID, _EMPTY, _BYTES_SAMPLES, _COPIES, _SPENT = range(_HEAD_FIELDS)


class Task(NamedTuple):
    """One batch to make. Plain values: a pickle of about a hundred bytes."""

    number: int
    """Tasks of a loader count from 1."""
    block: int
    mode: int
    level: int
    """REPLAY: what is served from the cache. BYPASS: the level whose own work is skipped. PREPARE,
    UNSEEN: up to where the samples are made before the block."""
    position: int
    """REPLAY and BYPASS: the worker's cached batch, modulo what it holds."""
    indices: Any
    """What the user's sampler gave; None if no sample is read, and for iterable datasets. INSIDE: a
    list of these. STORAGE: a StorageWork."""
    plan: tuple[str, ...]
    """Names of the slots that are stages, in chain order."""
    observed: bool
    limit: int
    """REPLAY: how many of the worker's cached batches are used; 0: all."""
    fill: int
    """FILL and PREPARE: a new number empties what the worker keeps first."""
    ticket: int = 0
    """What the task is known by from block to block; 0: it ends with its block."""
    samples: int = 0
    """Samples in the batch; 0: not known."""


class StorageWork(NamedTuple):
    """What a worker makes of a STORAGE task."""

    batches: list[Any]
    """Each is what the user's sampler gives, or a part of it. The first sample of them is not
    counted. Empty for iterable datasets."""
    samples: int
    """To count, at least 1."""
    max_seconds: float
    """The worker begins no other sample after that."""


def idle_task(number: int) -> Task:
    """A task that stands for none."""
    return Task(number, IDLE, LIVE, 0, 0, None, (), False, 0, 0)


def after_collate(members: Sized) -> int:
    """The level of whole batches."""
    return len(members) + 2


class Empty:
    """In place of a batch: this worker has nothing to serve, of its iterable dataset or of what it
    keeps."""


class Prepared:
    """In place of a batch: the worker has made it up to the level of its task."""


class Stale:
    """In place of a batch: the task was of an older block, or stood for none."""


class StageRow(NamedTuple):
    """Sums of one worker and one stage. Seconds are those of the `timed` samples alone."""

    samples: float
    timed: float
    busy: float
    cpu: float


class SharedArea:
    """The current block and the counters of all workers. Each worker writes its own row alone."""

    def __init__(self, context: Any, workers: int) -> None:
        self.rows = max(1, workers)
        self._block = context.RawValue("Q", IDLE)
        self._ended_at = context.RawValue("d", 0.0)
        self._numbers = context.RawArray("d", self.rows * ROW)
        self._bytes = context.RawArray("d", self.rows * (MAX_MEMBERS + 3))

    @property
    def block(self) -> int:
        return int(self._block.value)

    @block.setter
    def block(self, number: int) -> None:
        self._block.value = number

    def end_block(self) -> None:
        """Makes all tasks stale, from now on."""
        self._ended_at.value = time.monotonic()
        self.block = IDLE

    @property
    def ended_at(self) -> float:
        """When the block before the current one ended, by time.monotonic()."""
        return float(self._ended_at.value)

    def is_current(self, task: Task) -> bool:
        """False for tasks of older blocks, and for tasks that stand for none."""
        return bool(self._block.value == task.block != IDLE)

    def start_worker(self, worker: int, pid: int) -> None:
        self._numbers[worker * ROW + _PID] = pid

    def forget_workers(self) -> None:
        """They have ended: their pids may be those of other processes."""
        for worker in range(self.rows):
            self.start_worker(worker, 0)

    def pids(self) -> list[int]:
        """Process ids of the workers that have begun; 0 for others."""
        return [int(self._numbers[w * ROW + _PID]) for w in range(self.rows)]

    def finish(self, worker: int, number: int) -> None:
        self._numbers[worker * ROW + _LAST_DONE] = number

    def last_done(self, worker: int) -> int:
        return int(self._numbers[worker * ROW + _LAST_DONE])

    def add(
        self, worker: int, stage: int, samples: int, timed: int, busy: float, cpu: float
    ) -> None:
        at = worker * ROW + _HEAD_FIELDS + _STAGE_FIELDS * stage
        numbers = self._numbers
        numbers[at] += samples
        numbers[at + 1] += timed
        numbers[at + 2] += busy
        numbers[at + 3] += cpu

    def snapshot(self) -> list[float]:
        """All counters at this moment."""
        return list(self._numbers[:])

    def note_empty(self, worker: int) -> None:
        self._numbers[worker * ROW + _EMPTY] = 1

    def empty_workers(self) -> list[int]:
        return [w for w in range(self.rows) if self._numbers[w * ROW + _EMPTY]]

    def note_spent(self, worker: int, block: int) -> None:
        """The worker keeps no batch that it could serve in `block`."""
        self._numbers[worker * ROW + _SPENT] = block

    def why_empty(self) -> str:
        """Why no worker will answer another task of this block with a batch; empty: some may."""
        rows = range(self.rows)
        if all(self._numbers[w * ROW + _EMPTY] for w in rows):
            return "the iterable dataset delivered nothing, in any worker"
        if all(self._numbers[w * ROW + _SPENT] == self.block for w in rows):
            return "no worker keeps a batch that this block could serve"
        return ""

    def note_copies(self, worker: int, count: int) -> None:
        self._numbers[worker * ROW + _COPIES] = count

    def copies(self) -> int:
        """Most cached values that one worker has to copy because a stage overwrites them."""
        return max(int(self._numbers[w * ROW + _COPIES]) for w in range(self.rows))

    def start_sizes(self, worker: int) -> None:
        self._numbers[worker * ROW + _BYTES_SAMPLES] = 0
        at = worker * (MAX_MEMBERS + 3)
        for level in range(MAX_MEMBERS + 3):
            self._bytes[at + level] = 0

    def add_sizes(self, worker: int, samples: int, bytes_by_level: list[int]) -> None:
        self._numbers[worker * ROW + _BYTES_SAMPLES] += samples
        for level, size in enumerate(bytes_by_level):
            self._bytes[worker * (MAX_MEMBERS + 3) + level] += size

    def bytes_per_sample(self, levels: int) -> list[float]:
        """Mean bytes per cached sample at levels 0 to `levels` - 1."""
        width = MAX_MEMBERS + 3
        count = sum(self._numbers[w * ROW + _BYTES_SAMPLES] for w in range(self.rows))
        sums = [sum(self._bytes[w * width + k] for w in range(self.rows)) for k in range(levels)]
        return [size / max(1.0, count) for size in sums]


def stage_sums(now: list[float], then: Optional[list[float]], stages: int) -> list[StageRow]:
    """What all workers added to each stage between two snapshots."""
    sums = []
    for stage in range(stages):
        values = []
        for f in range(_STAGE_FIELDS):
            at = range(_HEAD_FIELDS + _STAGE_FIELDS * stage + f, len(now), ROW)
            values.append(sum(now[i] - (then[i] if then else 0.0) for i in at))
        sums.append(StageRow(*values))
    return sums
