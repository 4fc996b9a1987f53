"""Chooses where the batches of an arm come from. Not thread safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

from .._chain.description import COLLATE, COMPANION, COPY, LOADER, PIN, SAMPLER, TRANSFER, Chain
from .._chain.orders import Order
from .._worker.tasks import BYPASS, LIVE, REPLAY, UNSEEN, Task
from .feeds import REPLAYED, DroppingFeed, Feed, HeldBatches, HeldFeed, WorkerFeed
from .iterable_feed import IterableFeed
from .member_arms import MemberArms
from .pinning_feed import PinningFeed
from .shadow import ShadowLoader


@dataclass
class FeedMaker:
    """Makes the feed of an arm, which goes on where the last one of that arm stopped."""

    chain: Chain
    held: HeldBatches
    batch_size: int
    order: Optional[Order] = None
    shadow: Optional[ShadowLoader] = None
    next_batch: Optional[Callable[[], Any]] = None
    nodes: Optional[MemberArms] = None
    """Of a pipeline of other libraries whose members are stages."""
    samples_per_batch: Optional[int] = None
    """What each batch counts as, if that was given."""
    keeps_queues: bool = False
    """A block goes on with what the last one of its arm left."""
    usual_wait: float = 0.0
    """What the loop waited for a batch of the untouched loader. Seconds."""
    make_room: Callable[[int], None] = lambda _steps: None
    """As IterableFeed has it."""
    period: int = 1
    """Batches per optimizer step: blocks are whole periods, and so is what comes before them."""

    def feed(self, arm: dict[str, Any], shadow: Optional[ShadowLoader] = None) -> Feed:
        """`arm`: of docs/extend/protocol.md; `shadow`: the loader of a live arm with overrides."""
        kind = arm.get("kind")
        loader = shadow or self.shadow
        if kind == "shadow":
            return self._dropping(loader, arm, wait=False)
        if kind == "bypass":
            return self._bypass(loader, arm)
        boundary = int(arm.get("boundary", 0)) if kind in REPLAYED else 0
        if kind == "unseen":
            assert loader is not None
            return self._cached(loader, arm, UNSEEN, boundary)
        return self._replay(loader, arm, boundary)

    def settling_steps(self) -> int:
        """Untimed steps that the first block of an arm takes at most, until its queue is full."""
        if self.nodes is not None:
            return self._whole(self.nodes.ahead(0))
        return self._whole(self.shadow.in_flight if self.shadow and self.keeps_queues else 0)

    def _replay(self, loader: Optional[ShadowLoader], arm: dict[str, Any], boundary: int) -> Feed:
        limit = -(-int(arm.get("cache_samples", 0)) // self.batch_size)
        place = self.chain.place_of_loader(boundary)
        if place == COPY:
            return HeldFeed(self.held, self.held.device, limit)
        if place == PIN:
            return HeldFeed(self.held, self.held.pinned, limit)
        if place in (TRANSFER, LOADER) or (place == COLLATE and loader and loader.workers == 0):
            return self._held_on_host(loader, limit)
        if self.nodes is not None:
            return self.nodes.feed(boundary, self.samples_per_batch, limit)
        if loader is None:
            assert self.next_batch is not None
            return IterableFeed(
                self.next_batch, self.samples_per_batch, self.usual_wait, self.make_room
            )
        if place is None:
            return self._live(loader, arm)
        if place == SAMPLER:
            return self._live(loader, arm, self.held.indices)
        return self._cached(loader, arm, REPLAY, boundary, limit)

    def _held_on_host(self, loader: Optional[ShadowLoader], limit: int) -> Feed:
        if self.held.pinned:
            in_flight = loader.in_flight if loader else 0
            return PinningFeed(self.held, limit, in_flight)
        return HeldFeed(self.held, self.held.host, limit)

    def _bypass(self, loader: Optional[ShadowLoader], arm: dict[str, Any]) -> Feed:
        stage = int(arm["stage"])
        place = self.chain.place(stage)
        if place == COPY:
            return self._dropping(loader, arm, wait=True)
        if place == COMPANION:
            return self._replay(loader, arm, 0)
        if self.nodes is not None:
            copies = self.held.serve_copies
            return self.nodes.bypass(stage, self.samples_per_batch, self.held.host, copies)
        assert loader is not None
        if place == SAMPLER:
            return self._live(loader, arm, self.held.indices)
        return self._cached(loader, arm, BYPASS, stage)

    def _dropping(self, loader: Optional[ShadowLoader], arm: dict[str, Any], wait: bool) -> Feed:
        assert loader is not None
        batches = self.held.device or self.held.pinned or self.held.host
        kept = HeldFeed(self.held, batches, 0)
        return DroppingFeed(self._live(loader, arm), loader, kept, wait)

    def _live(
        self, loader: ShadowLoader, arm: dict[str, Any], indices: Optional[list[Any]] = None
    ) -> WorkerFeed:
        observed = _observed(arm)
        plan = self.chain.plan

        def make(number: int, block: int, asked: int) -> Task:
            if indices is not None:
                picked = indices[asked % len(indices)]
            else:
                picked = self.order.draw() if self.order else None
            size = self._size(picked)
            return Task(number, block, LIVE, 0, 0, picked, plan, observed, 0, 0, 0, size)

        return self._worker_feed(loader, make, arm)

    def _cached(
        self, loader: ShadowLoader, arm: dict[str, Any], mode: int, boundary: int, limit: int = 0
    ) -> WorkerFeed:
        level = self.chain.level(boundary)
        workers = max(1, loader.workers)
        each = -(-limit // workers)
        plan = self.chain.plan
        reads = mode == BYPASS
        sizes = set(self.held.sizes)
        size = sizes.pop() if len(sizes) == 1 else 0
        observed = _observed(arm)

        def make(number: int, block: int, asked: int) -> Task:
            picked = self.order.draw() if reads and self.order else None
            position = asked // workers
            return Task(
                number, block, mode, level, position, picked, plan, observed, each, 0, 0, size
            )

        return self._worker_feed(loader, make, arm)

    def _worker_feed(
        self, loader: ShadowLoader, make: Callable[[int, int, int], Task], arm: dict[str, Any]
    ) -> WorkerFeed:
        # What an unseen arm takes is made for each block.
        queue = None if arm.get("kind") == "unseen" else loader.queues.of(arm)
        keeps = self.keeps_queues and loader.in_flight > 0
        feed = WorkerFeed(loader, make, _observed(arm), queue, keeps)
        feed.settling_steps = self._whole(feed.settling_steps)
        return feed

    def _whole(self, steps: int) -> int:
        """Rounded up to whole periods."""
        return -(-steps // self.period) * self.period

    def _size(self, indices: Any) -> int:
        if self.samples_per_batch:
            return self.samples_per_batch
        if indices is None or self.order is None:
            return self.batch_size if self.batch_size > 1 else 0
        return self.order.count(indices) if self.order.gives_batches else 0


def _observed(arm: dict[str, Any]) -> bool:
    return bool(arm.get("observed", True))
