"""Chooses where the batches of an arm come from. Not thread safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

from .._chain.description import COLLATE, COMPANION, COPY, LOADER, PIN, SAMPLER, TRANSFER, Chain
from .._chain.orders import Order
from .._worker.tasks import BYPASS, LIVE, REPLAY, UNSEEN, Task
from .feeds import REPLAYED, DroppingFeed, Feed, HeldBatches, HeldFeed, IterableFeed, WorkerFeed
from .pinning_feed import PinningFeed
from .shadow import ShadowLoader


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
    samples_per_batch: Optional[int] = None
    """What each batch counts as, if that was given."""
    exact: Optional[int] = None
    """Seed of random draws that repeat, for tests."""

    def feed(self, arm: dict[str, Any], shadow: Optional[ShadowLoader] = None) -> Feed:
        """`arm` as in docs/protocol.md; `shadow`: the loader of a live arm with overrides."""
        kind = arm.get("kind")
        loader = shadow or self.shadow
        observed = bool(arm.get("observed", True))
        if kind == "shadow":
            return self._dropping(loader, observed, wait=False)
        if kind == "bypass":
            return self._bypass(loader, int(arm["stage"]), observed)
        boundary = int(arm.get("boundary", 0)) if kind in REPLAYED else 0
        if kind == "unseen":
            assert loader is not None
            return WorkerFeed(loader, self._cached_task(loader, UNSEEN, boundary, 0, observed))
        return self._replay(loader, boundary, int(arm.get("cache_samples", 0)), observed)

    def _replay(
        self, loader: Optional[ShadowLoader], boundary: int, cache_samples: int, observed: bool
    ) -> Feed:
        limit = -(-cache_samples // self.batch_size)
        place = self.chain.place_of_loader(boundary)
        if place == COPY:
            return HeldFeed(self.held, self.held.device, self.first, limit)
        if place == PIN:
            return HeldFeed(self.held, self.held.pinned, self.first, limit)
        if place in (TRANSFER, LOADER) or (place == COLLATE and loader and loader.workers == 0):
            return self._held_on_host(loader, limit)
        if loader is None:
            assert self.next_batch is not None
            return IterableFeed(self.next_batch, self.samples_per_batch)
        if place is None:
            return self._live(loader, observed)
        if place == SAMPLER:
            return self._live(loader, observed, self.held.indices)
        return WorkerFeed(loader, self._cached_task(loader, REPLAY, boundary, limit, observed))

    def _held_on_host(self, loader: Optional[ShadowLoader], limit: int) -> Feed:
        if self.held.pinned:
            in_flight = loader.in_flight if loader else 0
            return PinningFeed(self.held, self.first, limit, in_flight)
        return HeldFeed(self.held, self.held.host, self.first, limit)

    def _bypass(self, loader: Optional[ShadowLoader], stage: int, observed: bool) -> Feed:
        place = self.chain.place(stage)
        if place == COPY:
            return self._dropping(loader, observed, wait=True)
        if place == COMPANION:
            return self._replay(loader, 0, 0, observed)
        assert loader is not None
        if place == SAMPLER:
            return self._live(loader, observed, self.held.indices)
        return WorkerFeed(loader, self._cached_task(loader, BYPASS, stage, 0, observed))

    def _dropping(self, loader: Optional[ShadowLoader], observed: bool, wait: bool) -> Feed:
        assert loader is not None
        batches = self.held.device or self.held.pinned or self.held.host
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
            task = Task(number, block, LIVE, 0, 0, picked, plan, observed, 0, 0, self.exact)
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
            task = Task(
                number, block, mode, level, position, picked, plan, observed, each, 0, self.exact
            )
            return task, size

        return make

    def _size(self, indices: Any) -> int:
        if self.samples_per_batch:
            return self.samples_per_batch
        if indices is None or self.order is None:
            return self.batch_size if self.batch_size > 1 else 0
        return self.order.count(indices) if self.order.gives_batches else 0
