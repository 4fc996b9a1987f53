"""Lets workers make batches up to a boundary, which the stages after it have never had."""

from __future__ import annotations

from typing import Any

from .._chain.description import MEMBER, READ, Chain
from .._worker.tasks import PREPARE, Task
from .loaders import MeasuredLoader


def unseen_boundaries(loader: MeasuredLoader, chain: Chain) -> list[int]:
    """Boundaries for which workers can do so: before collate_fn, and with samples that come by
    index, so that none is lost."""
    if loader.shadow is None or loader.order is None:
        return []
    boundaries = range(1, chain.last + 1)
    return [k for k in boundaries if chain.place(k) in (READ, MEMBER)]


def prepare_unseen(loader: MeasuredLoader, chain: Chain, request: dict[str, Any]) -> None:
    """Makes what the block of `request` takes. The caches must be filled. Raises what the dataset
    raises, and LoaderGone."""
    shadow, order = loader.shadow, loader.order
    assert shadow is not None and order is not None
    workers = max(1, shadow.workers)
    # With ranks, all of them take as many steps until their queues have filled.
    settling = int(request.get("settling_steps") or 0)
    taken = int(request["warmup_steps"]) + settling + int(request["steps"])
    # Workers take their turns from wherever the last block ended.
    batches = (-(-taken // workers) + 1) * workers
    level = chain.level(int(request["arm"]["boundary"]))
    block = loader.next_block()

    def make(number: int) -> Task:
        return Task(number, block, PREPARE, level, 0, order.draw(), chain.plan, False, 0, block)

    try:
        shadow.begin_some(block, batches, make)
        for _ in range(batches):
            shadow.receive()
    finally:
        shadow.end()
