"""The queues of arms between their blocks: batches that are made, and tasks that are not.

A DataLoader has one queue. At the end of a block it is emptied in order; when the arm goes on, the
same tasks are dealt out again, each to the worker that had it: what is unmade goes on from the
sample at which it stopped, what is made stands in the queue as a task that is answered at once.
Not thread safe.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .._chain.pinning import Parcel
from .._worker.tasks import HELD, Empty, Stale, Task, idle_task

_NO_MATTER = ("observed",)
"""Fields of an arm that leave its batches as they are."""


@dataclass
class Entry:
    """A place in the queue."""

    task: Task
    made: bool = False
    batch: Any = None
    parcel: Optional[Parcel] = None

    @staticmethod
    def of(task: Task, batch: Any, parcel: Optional[Parcel]) -> Entry:
        """For what a worker has answered."""
        if isinstance(batch, (Empty, Stale)):
            return Entry(task)
        return Entry(task, True, batch, parcel)

    def dealt_again(self, number: int, block: int, observed: bool) -> Task:
        """The task for another block."""
        mode = HELD if self.made else self.task.mode
        return self.task._replace(number=number, block=block, mode=mode, observed=observed)


@dataclass
class ArmQueue:
    """The queue of one arm and one loader."""

    entries: deque[Entry] = field(default_factory=deque)
    """In order; empty before the first block."""
    first_worker: int = 0
    """Which has the first entry."""
    asked: int = 0
    """Tasks so far."""
    filled: bool = False
    """A block has begun with it: the next one does not begin with an empty queue."""

    def keep(self, entries: list[Entry], first_worker: int) -> None:
        self.entries = deque(entries)
        self.first_worker = first_worker


class ArmQueues:
    """The queues of all arms of one loader."""

    def __init__(self) -> None:
        self._queues: dict[str, ArmQueue] = {}

    def of(self, arm: dict[str, Any]) -> ArmQueue:
        """The queue of `arm`, as in docs/extend/protocol.md."""
        known = {name: value for name, value in arm.items() if name not in _NO_MATTER}
        return self._queues.setdefault(json.dumps(known, sort_keys=True), ArmQueue())

    def clear(self) -> None:
        """Lets go of what was kept: the next block of each arm begins with an empty queue."""
        for queue in self._queues.values():
            queue.entries.clear()
            queue.filled = False


class Dealer:
    """Gives the tasks of a loader: first those that a block goes on with, then new ones."""

    def __init__(self) -> None:
        self.make_task: Optional[Callable[[int], Task]] = None
        """Gives a new task by its number; None: it stands for none."""
        self._queue: Optional[ArmQueue] = None
        self._old: deque[Entry] = deque()
        self._held: dict[int, Entry] = {}
        """Entries that are dealt out again and are made already, by the number of their tasks."""
        self._block = 0
        self._observed = True

    def go_on(self, queue: ArmQueue, block: int, observed: bool) -> None:
        """The next tasks are those in `queue`."""
        self._old, queue.entries = queue.entries, deque()
        self._block, self._observed = block, observed

    def begin(self, queue: Optional[ArmQueue]) -> None:
        """`queue`: gets what the block that begins will leave, if it is kept."""
        self._queue = queue
        if queue is not None:
            queue.filled = True

    def next(self, number: int) -> Task:
        """The next task."""
        if not self._old:
            return (self.make_task or idle_task)(number)
        entry = self._old.popleft()
        if entry.made:
            self._held[number] = entry
        return entry.dealt_again(number, self._block, self._observed)

    def held(self, number: int) -> Optional[Entry]:
        """What the task of this number stands for, if that is made already."""
        return self._held.pop(number, None)

    def end(self, left: list[Entry], first_worker: int) -> None:
        """The last block has left these places in its queue."""
        if self._queue is not None:
            self._queue.keep(left, first_worker)
        self._queue = None

    def clear(self) -> None:
        """The workers have ended."""
        self.make_task = self._queue = None
        self._old.clear()
        self._held.clear()
