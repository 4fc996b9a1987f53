"""What it costs that a loader keeps the state of its dataset, so that it can go on where it was."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Optional

from . import facts

_LEAST_SECONDS = 1e-3
"""Per batch: less than that is not told."""
_QUICK_SECONDS = 0.2
"""A snapshot of less is taken again: the first call may prepare something."""


def snapshot_notes(loader: Any) -> list[str]:
    """A note if torchdata's StatefulDataLoader spends time on the state of its dataset, which is no
    part of any stage. Calls the dataset's `state_dict` twice at most; what it raises is dropped."""
    if not facts.adds_only_state(loader):
        return []
    every = getattr(loader, "snapshot_every_n_steps", None) or 1
    seconds = _snapshot_seconds(loader.dataset)
    if seconds is None or seconds / every < _LEAST_SECONDS:
        return []
    after = "each batch" if every == 1 else f"every {every} batches"
    return [
        f"a snapshot of the dataset's state takes {seconds * 1e3:,.0f} ms, and the loader takes "
        f"one after {after}: the figures are without it. StatefulDataLoader(..., "
        "snapshot_every_n_steps=1000) takes fewer"
    ]


def _snapshot_seconds(dataset: Any) -> Optional[float]:
    """None if the dataset has no state."""
    state_dict = getattr(dataset, "state_dict", None)
    if not callable(state_dict):
        return None
    seconds = None
    for _ in range(2):
        began = perf_counter()
        try:
            state_dict()
        except Exception:  # Before its iteration has begun, say.
            return None
        seconds = perf_counter() - began
        if seconds > _QUICK_SECONDS:
            break
    return seconds
