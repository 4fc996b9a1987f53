"""What measuring a loader takes in addition to training: a second set of workers."""

from __future__ import annotations

import os
import resource
from typing import Any, Optional

from .._chain import facts, pinning
from .._chain.free import SHARED_MEMORY, free_memory, free_shared_memory
from .loaders import MeasuredLoader
from .ranks import local_ranks, rank_and_world

_MUCH = 0.8
"""Share of what is free: the user is told of a need above it."""
_SHARE_FOR_QUEUES = 0.25
_MORE_ARMS = 4
"""Besides the replays at all boundaries."""
_PARTS_OF_RANKS = 16
"""Groups of ranks that are freed one after another, at each level: nodes, ranks of a node."""


def needs_of(loader: Any, own: Any, batch_bytes: int, batch_tensors: int) -> list[str]:
    """What the user should know before a second set of workers starts: how much memory,
    /dev/shm and descriptors it takes, if that is much of what is free; empty otherwise.

    `own`: the loader's iterator, whose workers run.
    """
    workers = int(getattr(loader, "num_workers", 0) or 0)
    if workers == 0:
        return []
    in_flight = workers * int(getattr(loader, "prefetch_factor", None) or 2)
    pids = [worker.pid or 0 for worker in getattr(own, "_workers", ())]
    private = facts.private_bytes(pids)
    found = [
        _if_much("memory", (private or 0) * workers, free_memory(), "fewer workers"),
        _if_much(
            SHARED_MEMORY,
            float(batch_bytes * in_flight),
            free_shared_memory(),
            "a larger one (docker run --shm-size)",
        ),
        _if_much(
            "file descriptors",
            float(batch_tensors * in_flight),
            _free_descriptors(),
            "ulimit -n",
            unit="",
        ),
    ]
    return [
        f"measuring starts a second set of {workers} workers: {text}"
        for text in found
        if text is not None
    ]


def queues_fit(
    loader: MeasuredLoader, boundaries: int, batch_bytes: int, batch_tensors: int
) -> bool:
    """True if the queues of all arms may be kept from block to block.

    Batches come in order, so that what is asked for again can be asked of the same worker. All that
    wait fit into a quarter of the free memory, and of /dev/shm and of the descriptors if they stay
    where workers put them. The ranks of a machine share its memory.
    """
    shadow = loader.shadow
    if shadow is None or not shadow.knows_what_is_ready:
        return False
    batches = (boundaries + _MORE_ARMS + _arms_of_ranks()) * shadow.in_flight
    of_machine = local_ranks() * batches * batch_bytes
    rooms = [(of_machine, free_memory())]
    if not pinning.happens(loader.own):
        rooms += [
            (of_machine, free_shared_memory()),
            (batches * batch_tensors, _free_descriptors()),
        ]
    return all(free is None or needed <= _SHARE_FOR_QUEUES * free for needed, free in rooms)


def _arms_of_ranks() -> int:
    """In which some ranks are freed and this one may not be."""
    world = rank_and_world()[1]
    if world == 1:
        return 0
    return min(world, _PARTS_OF_RANKS) * (1 if world <= local_ranks() else 3)


def _if_much(
    what: str, needed: float, free: Optional[float], remedy: str, unit: str = "GB of "
) -> Optional[str]:
    if free is None or needed <= _MUCH * free:
        return None
    scale, digits = (1e9, 2) if unit else (1.0, 0)
    amount, left = (f"{value / scale:.{digits}f}" for value in (needed, max(0.0, free)))
    return f"about {amount} {unit}{what}, of which {left} are free; {remedy} may help"


def _free_descriptors() -> Optional[float]:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        return float(limit - len(os.listdir("/proc/self/fd")))
    except OSError:
        return None
