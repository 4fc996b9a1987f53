"""Fields of `chain` in the answer to `describe` (docs/extend/protocol.md) that need no worker."""

from __future__ import annotations

import os
from typing import Any

from .._chain import facts
from .._chain.description import Chain
from .ranks import local_ranks


def of_loader(loader: Any, batch_size: int) -> dict[str, Any]:
    """What is known of `loader`, a DataLoader or any iterable of batches, and of its process."""
    return {
        "samples": facts.length_of(loader),
        "epoch_samples": facts.epoch_samples_of(loader, batch_size),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "train_threads": facts.threads(),
        "usable_cpus": len(os.sched_getaffinity(0)),
        "local_ranks": local_ranks(),
    }


def of_cache(chain: Chain) -> dict[str, Any]:
    """What a cache would cost, where one may stand."""
    if not chain.cached_after and not chain.reads:
        return {}
    from .._cache.hit_cost import measured_hit  # Takes torch.

    hit = measured_hit()
    return {"cache_hit": None if hit is None else hit.to_json()}
