"""What a sample from a cache that processes share costs the one that asks for it, on this machine.

Samples of several kinds and two sizes are kept and fetched a few times, as a CachedDataset does it:
their bytes are not in the caches of the CPU, since an epoch has more than fit there; the code is.
Not thread safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import monotonic, thread_time
from typing import Any, Callable, Optional

from .choice import decode_entry, encode_entry
from .entry import Entry, call_now
from .shared_folder import SharedFolder
from .store import MIN_LIMIT, Store
from .tiers import Tiers

SMALL, LARGE = 4 << 10, 512 << 10
"""Bytes of samples."""
USUAL = "tensor"
"""The kind whose cost is taken; the others tell how far from it samples may be."""
_TIMES = 9
_SECONDS = 1.0
"""After which each was fetched often enough."""
_FIRST = "first"
"""A key that is fetched before each of those that are timed: code and tables are at hand then."""
_CPU_CACHES = 32 << 20
"""Bytes that take the place of all others in the caches of a core, or of most."""

Times = Mapping[tuple[str, int], list[float]]
"""Seconds, by kind and size."""


@dataclass(frozen=True)
class HitCost:
    """`within`: the factor within which both are known."""

    seconds: float
    seconds_per_byte: float
    within: float

    def to_json(self) -> dict[str, float]:
        """`cache_hit` of docs/extend/protocol.md."""
        return dict(vars(self))


def measured_hit(cpu: Callable[[], float] = thread_time) -> Optional[HitCost]:
    """`cpu`: the clock of this thread. It waits for nothing, and a core that others use as well is
    no cost of its own. None if it cannot be measured here, such as without room in shared memory.
    Raises nothing."""
    try:
        return _measured(cpu)
    except Exception:
        return None


def cost_of(times: Times) -> HitCost:
    """The cost by medians: few times meet a cold cache, or the collector."""
    kinds = {kind for kind, _ in times}
    typical = {key: median(seconds) for key, seconds in times.items()}
    small, large = typical[USUAL, SMALL], typical[USUAL, LARGE]
    per_byte = max(0.0, (large - small) / (LARGE - SMALL))
    fixed = max(0.0, small - SMALL * per_byte)
    ratios = [
        typical[kind, size] / (fixed + per_byte * size) for kind in kinds for size in (SMALL, LARGE)
    ]
    return HitCost(fixed, per_byte, max(max(ratio, 1 / ratio) for ratio in ratios))


def _measured(cpu: Callable[[], float]) -> Optional[HitCost]:
    folder = SharedFolder(MIN_LIMIT)
    tiers = Tiers([Store(folder.path, MIN_LIMIT, "none", durable=False)])
    try:
        samples = _samples()
        for key, sample in samples.items():
            entry = Entry({}, [], sample, ())
            tiers.put(repr(key), encode_entry(entry, USUAL, []))
        tiers.put(_FIRST, encode_entry(Entry({}, [], 0, ()), USUAL, []))
        times: dict[tuple[str, int], list[float]] = {key: [] for key in samples}
        other = bytearray(_CPU_CACHES)
        until = monotonic() + _SECONDS
        for _ in range(_TIMES):
            for key, seconds in times.items():
                _take_cpu_caches(other)
                _fetch(tiers, _FIRST)
                before = cpu()
                _fetch(tiers, repr(key))
                seconds.append(cpu() - before)
            if monotonic() > until:
                break
        return cost_of(times)
    finally:
        tiers.close()
        folder.remove()


def _take_cpu_caches(memory: bytearray) -> None:
    """In this thread alone: torch would start others, in a process that may yet fork."""
    half = len(memory) // 2
    whole = memoryview(memory)
    whole[:half] = whole[half:]


def _fetch(tiers: Tiers, key: str) -> Any:
    data = tiers.get(key)
    entry = None if data is None else decode_entry(data, [], [])
    if entry is None:
        raise ValueError(f"{key} is not there")
    return entry.sample([], call_now)


def _samples() -> dict[tuple[str, int], Any]:
    """Samples of each size: what costs least and most to make again, and what is usual."""
    made: dict[tuple[str, int], Any] = {}
    for size in (SMALL, LARGE):
        made[USUAL, size] = (_tensor(size), 1)
        made["bytes", size] = (bytes(size), 1)
        made["tensors", size] = {str(number): _tensor(size // 8) for number in range(8)}
    return made


def _tensor(size: int) -> Any:
    import torch

    return torch.frombuffer(bytearray(size), dtype=torch.uint8)  # No thread has to fill it.
