"""What a block takes its batches from: workers, the training process's own caches, or both.

A feed is begun once per block, asked for one batch per step, and ended. Not thread safe.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .._chain import trees
from .._chain.pinning import Spent
from .._worker.tasks import Task
from .arm_queues import ArmQueue
from .shadow import ShadowLoader

REPLAYED = ("replay", "null", "unseen")
"""Kinds of arms with a boundary, up to which batches are made before the block."""

_NOTHING = Spent()


@dataclass
class HeldBatches:
    """Batches that the training process itself keeps, in private, pinned and device memory."""

    host: list[Any] = field(default_factory=list)
    pinned: list[Any] = field(default_factory=list)
    """The same batches in page-locked memory, if the loader pins."""
    device: list[Any] = field(default_factory=list)
    indices: list[Any] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    pin_python_seconds: float = 0.0
    """Time that Python code takes in pinning one batch."""
    serve_copies: bool = False
    """The step writes into its batches: each gets a copy."""
    digests: dict[int, list[int]] = field(default_factory=dict)
    """Digests of lists of batches that no block has served yet, by their id()."""
    served: dict[int, int] = field(default_factory=dict)
    """How many batches of a list were served so far, by its id()."""

    def clear(self) -> None:
        """Lets go of all batches."""
        for kept in (self.host, self.pinned, self.device, self.indices, self.sizes):
            kept.clear()
        self.digests.clear()

    def keep_digests(self) -> None:
        """The batches are complete. Not needed where each step gets a copy anyway."""
        if self.serve_copies:
            return
        for kept in (self.host, self.pinned, self.device):
            self.digests[id(kept)] = [trees.digest(batch) for batch in kept]

    def were_written(self, batches: list[Any]) -> bool:
        """True if the first block that was served from `batches` has written into one: from now on
        each step gets a copy, and the batches are what they were."""
        before = self.digests.pop(id(batches), None)
        if before is None or before == [trees.digest(batch) for batch in batches]:
            return False
        if batches is self.device:
            batches[:] = [trees.to_device(h, _device_in(d)) for h, d in zip(self.host, batches)]
        self.serve_copies = True
        return True

    def take(self, batches: list[Any], limit: int) -> tuple[Any, int]:
        """The next of the first `limit` batches (0: of all), and its number of samples."""
        count = min(len(batches), limit) if limit > 0 else len(batches)
        number = self.served.get(id(batches), 0)
        self.served[id(batches)] = number + 1
        batch = batches[number % count]
        return trees.clone(batch) if self.serve_copies else batch, self.sizes[number % count]


@dataclass
class Waiting:
    """How the training thread spent its time in a feed, and what pinning took. Seconds."""

    starved: float = 0.0
    receiving: float = 0.0
    """Receiving batches that had been made before they were asked for."""
    received: int = 0
    """Those batches."""
    ready: int = 0
    """Finished batches at each request, summed."""
    requests: int = 0
    unpacking: float = 0.0
    """Receiving batches in the pin thread."""
    unpacking_cpu: float = 0.0
    pinning: float = 0.0
    pinning_cpu: float = 0.0
    pinned: int = 0
    """Those batches."""

    def add_pinned(self, pinned: Spent, unpacked: Spent = _NOTHING) -> None:
        """A batch was pinned."""
        self.unpacking += unpacked.busy
        self.unpacking_cpu += unpacked.cpu
        self.pinning += pinned.busy
        self.pinning_cpu += pinned.cpu
        self.pinned += 1


class Feed:
    """Base of all feeds."""

    def __init__(self) -> None:
        self.waiting = Waiting()
        self.settling_steps = 0
        """Untimed steps until a queue that begins empty has filled."""

    def expect(self, steps: int) -> None:
        """Called before begin(): so many batches will be taken."""

    def begin(self, block: int) -> None:
        """Starts empty: nothing made for an earlier block is delivered."""

    def take(self) -> tuple[Any, int]:
        """The batch for the next step and its number of samples."""
        raise NotImplementedError

    def end(self) -> None:
        """The block is over."""

    def is_spoiled(self) -> bool:
        """True if the block has shown that blocks like it must be served otherwise."""
        return False


class HeldFeed(Feed):
    """Serves batches that the training process keeps. Goes on where the last block stopped."""

    def __init__(self, held: HeldBatches, batches: list[Any], limit: int) -> None:
        super().__init__()
        self._held = held
        self._batches = batches
        self._limit = limit

    def take(self) -> tuple[Any, int]:
        return self._held.take(self._batches, self._limit)

    def is_spoiled(self) -> bool:
        return not self._held.serve_copies and self._held.were_written(self._batches)


def _device_in(batch: Any) -> Any:
    return next(leaf.device for leaf in trees.leaves(batch) if trees.is_tensor(leaf))


class WorkerFeed(Feed):
    """Batches of the shadow loader. `make_task(number, block, place)` gives its tasks. A block goes
    on at the place where `queue` was left, and with what that keeps if it `keeps` anything."""

    def __init__(
        self,
        shadow: ShadowLoader,
        make_task: Callable[[int, int, int], Task],
        observed: bool = True,
        queue: Optional[ArmQueue] = None,
        keeps: bool = True,
    ) -> None:
        super().__init__()
        self._shadow = shadow
        self._make_task = make_task
        self._observed = observed
        self._queue = queue
        self._keeps = keeps and queue is not None
        self._block = 0
        self._asked = queue.asked if queue is not None else 0
        if queue is not None and keeps:
            self.settling_steps = 0 if queue.filled else shadow.in_flight
        else:  # Begins with the first worker, and each has batches of its own.
            workers = max(1, shadow.workers)
            self._asked = -(-self._asked // workers) * workers

    def begin(self, block: int) -> None:
        self._block = block
        queue = self._queue if self._keeps else None
        self._shadow.begin(block, self._next_task, queue, self._observed)

    def take(self) -> tuple[Any, int]:
        shadow, waiting = self._shadow, self.waiting
        began = time.monotonic()
        was_ready = shadow.head_is_ready()
        waiting.requests += 1
        if shadow.knows_what_is_ready:
            waiting.ready += shadow.ready()
        batch = shadow.receive()
        size = shadow.task.samples
        seconds = time.monotonic() - began
        if was_ready:
            waiting.receiving += seconds
            waiting.received += 1
        else:
            waiting.starved += seconds
        parcel = shadow.parcel
        if parcel is not None and parcel.pinned is not None:
            waiting.add_pinned(parcel.pinned, parcel.unpacked)
        return batch, size or trees.count_samples(batch) or 1

    def end(self) -> None:
        self._shadow.end()

    def _next_task(self, number: int) -> Task:
        task = self._make_task(number, self._block, self._asked)
        self._asked += 1
        if self._queue is not None:
            self._queue.asked = self._asked
        return task._replace(ticket=number) if self._keeps else task


class DroppingFeed(Feed):
    """Serves kept batches while workers load. `wait`: each loaded batch is waited for (bypass of
    the copy), else it is dropped only if it is ready (shadow)."""

    def __init__(self, live: WorkerFeed, shadow: ShadowLoader, kept: HeldFeed, wait: bool) -> None:
        super().__init__()
        self._live = live
        self._shadow = shadow
        self._kept = kept
        self._wait = wait
        self.waiting = live.waiting
        self.settling_steps = live.settling_steps
        self.receiving_seconds = 0.0
        """Shadow: what the training thread spent receiving batches that were dropped."""

    def begin(self, block: int) -> None:
        self._live.begin(block)

    def take(self) -> tuple[Any, int]:
        if self._wait:
            self._live.take()
        elif self._shadow.head_is_ready():
            began = time.monotonic()
            self._live.take()
            self.receiving_seconds += time.monotonic() - began
        return self._kept.take()

    def end(self) -> None:
        self._live.end()
