"""What a block takes its batches from: workers, the training process's own caches, or both.

A feed is begun once per block, asked for one batch per step, and ended. Not thread safe.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from . import _trees
from ._chain import COLLATE, COPY, LOADER, SAMPLER, TRANSFER, Chain
from ._orders import Order
from ._shadow import ShadowLoader
from ._tasks import BYPASS, LIVE, REPLAY, Task


@dataclass
class HeldBatches:
    """Batches that the training process itself keeps, in private memory and on the device."""

    host: list[Any] = field(default_factory=list)
    device: list[Any] = field(default_factory=list)
    indices: list[Any] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    serve_copies: bool = False
    """The step writes into its batches: each gets a copy."""

    def take(self, batches: list[Any], number: int, limit: int) -> Any:
        count = min(len(batches), limit) if limit > 0 else len(batches)
        batch = batches[number % count]
        return _trees.clone(batch) if self.serve_copies else batch


@dataclass
class Waiting:
    """How the training thread spent its time in a feed. Seconds."""

    starved: float = 0.0
    receiving: float = 0.0
    """Receiving batches that had been made before they were asked for."""
    received: int = 0
    """Those batches."""
    ready: int = 0
    """Finished batches at each request, summed."""
    requests: int = 0


class Feed:
    """Base of all feeds."""

    def __init__(self) -> None:
        self.waiting = Waiting()

    def begin(self, block: int) -> None:
        """Starts empty: nothing made for an earlier block is delivered."""

    def take(self) -> tuple[Any, int]:
        """The batch for the next step and its number of samples."""
        raise NotImplementedError

    def end(self) -> None:
        """The block is over."""


class HeldFeed(Feed):
    """Serves batches that the training process keeps."""

    def __init__(self, held: HeldBatches, batches: list[Any], first: int, limit: int) -> None:
        super().__init__()
        self._held = held
        self._batches = batches
        self._number = first
        self._limit = limit

    def take(self) -> tuple[Any, int]:
        batch = self._held.take(self._batches, self._number, self._limit)
        size = self._held.sizes[self._number % len(self._held.sizes)]
        self._number += 1
        return batch, size


class WorkerFeed(Feed):
    """Batches of the shadow loader. `make_task(number, place_in_block)` gives tasks and sizes."""

    def __init__(
        self, shadow: ShadowLoader, make_task: Callable[[int, int, int], tuple[Task, int]]
    ) -> None:
        super().__init__()
        self._shadow = shadow
        self._make_task = make_task
        self._sizes: dict[int, int] = {}
        self._asked = 0
        self._block = 0

    def begin(self, block: int) -> None:
        self._block = block
        self._shadow.begin(block, self._next_task)

    def take(self) -> tuple[Any, int]:
        shadow, waiting = self._shadow, self.waiting
        began = time.monotonic()
        was_ready = shadow.head_is_ready()
        waiting.requests += 1
        if shadow.knows_what_is_ready:
            waiting.ready += shadow.ready()
        batch = shadow.receive()
        size = self._sizes.pop(shadow.number, 0)
        seconds = time.monotonic() - began
        if was_ready:
            waiting.receiving += seconds
            waiting.received += 1
        else:
            waiting.starved += seconds
        return batch, size or _trees.count_samples(batch) or 1

    def end(self) -> None:
        self._shadow.end()

    def _next_task(self, number: int) -> Task:
        task, size = self._make_task(number, self._block, self._asked)
        self._sizes[number] = size
        self._asked += 1
        return task


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


class IterableFeed(Feed):
    """Batches of any iterable, which is restarted at its end."""

    def __init__(self, next_batch: Callable[[], Any]) -> None:
        super().__init__()
        self._next_batch = next_batch

    def take(self) -> tuple[Any, int]:
        began = time.monotonic()
        batch = self._next_batch()
        self.waiting.starved += time.monotonic() - began
        return batch, _trees.count_samples(batch) or 1


@dataclass
class FeedMaker:
    """Makes the feed of an arm. `first`: where in the caches the blocks of this round begin."""

    chain: Chain
    held: HeldBatches
    batch_size: int
    order: Optional[Order] = None
    shadow: Optional[ShadowLoader] = None
    next_batch: Optional[Callable[[], Any]] = None
    first: int = 0

    def feed(self, arm: dict[str, Any], shadow: Optional[ShadowLoader] = None) -> Feed:
        """`arm` as in docs/protocol.md; `shadow`: the loader of a live arm with overrides."""
        kind = arm.get("kind")
        loader = shadow or self.shadow
        observed = bool(arm.get("observed", True))
        if kind == "shadow":
            return self._dropping(loader, observed, wait=False)
        if kind == "bypass":
            return self._bypass(loader, int(arm["stage"]), observed)
        boundary = int(arm.get("boundary", 0)) if kind in ("replay", "null") else 0
        return self._replay(loader, boundary, int(arm.get("cache_samples", 0)), observed)

    def _replay(
        self, loader: Optional[ShadowLoader], boundary: int, cache_samples: int, observed: bool
    ) -> Feed:
        limit = -(-cache_samples // self.batch_size)
        place = self.chain.place(boundary)
        if place == COPY:
            return HeldFeed(self.held, self.held.device, self.first, limit)
        if place in (TRANSFER, LOADER) or (place == COLLATE and loader and loader.workers == 0):
            return HeldFeed(self.held, self.held.host, self.first, limit)
        if loader is None:
            assert self.next_batch is not None
            return IterableFeed(self.next_batch)
        if place is None:
            return self._live(loader, observed)
        if place == SAMPLER:
            return self._live(loader, observed, self.held.indices)
        return WorkerFeed(loader, self._cached_task(loader, REPLAY, boundary, limit, observed))

    def _bypass(self, loader: Optional[ShadowLoader], stage: int, observed: bool) -> Feed:
        place = self.chain.place(stage)
        if place == COPY:
            return self._dropping(loader, observed, wait=True)
        assert loader is not None
        if place == SAMPLER:
            return self._live(loader, observed, self.held.indices)
        return WorkerFeed(loader, self._cached_task(loader, BYPASS, stage, 0, observed))

    def _dropping(self, loader: Optional[ShadowLoader], observed: bool, wait: bool) -> Feed:
        assert loader is not None
        batches = self.held.device or self.held.host
        kept = HeldFeed(self.held, batches, self.first, 0)
        return DroppingFeed(self._live(loader, observed), loader, kept, wait)

    def _live(
        self, loader: ShadowLoader, observed: bool, indices: Optional[list[Any]] = None
    ) -> WorkerFeed:
        plan = self.chain.plan

        def make(number: int, block: int, asked: int) -> tuple[Task, int]:
            if indices is not None:
                picked = indices[(self.first + asked) % len(indices)]
            else:
                picked = self.order.draw() if self.order else None
            task = Task(number, block, LIVE, 0, 0, picked, plan, observed, 0, 0)
            return task, self._size(picked)

        return WorkerFeed(loader, make)

    def _cached_task(
        self, loader: ShadowLoader, mode: int, boundary: int, limit: int, observed: bool
    ) -> Callable[[int, int, int], tuple[Task, int]]:
        level = self.chain.level(boundary)
        workers = max(1, loader.workers)
        each = -(-limit // workers)
        plan = self.chain.plan
        reads = mode == BYPASS
        sizes = set(self.held.sizes)
        size = sizes.pop() if len(sizes) == 1 else 0

        def make(number: int, block: int, asked: int) -> tuple[Task, int]:
            picked = self.order.draw() if reads and self.order else None
            position = (self.first + asked) // workers
            task = Task(number, block, mode, level, position, picked, plan, observed, each, 0)
            return task, size

        return make

    def _size(self, indices: Any) -> int:
        if indices is None or self.order is None:
            return self.batch_size if self.batch_size > 1 else 0
        count = self.order.count(indices)
        return count if count > 1 else 0
