"""Which rank of a distributed job this process is.

A step of one rank waits for those of the others. Whatever decides how many steps a rank takes must
therefore be the same on all ranks: counts of steps, but neither clocks nor messages that may
arrive in different steps.
"""

from __future__ import annotations

import os
import sys


def rank_and_world() -> tuple[int, int]:
    """Rank and world size of torch.distributed, else of the launcher's environment; (0, 1) for a
    single process."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    rank, world = _number("RANK", 0), _number("WORLD_SIZE", 1)
    return (rank, world) if 0 <= rank < world else (0, 1)


def local_ranks() -> int:
    """Ranks on this machine, of the launcher's environment; 1 for a single process."""
    return max(1, _number("LOCAL_WORLD_SIZE", 1))


def _number(name: str, default: int) -> int:
    """The number in a variable that other programs than launchers may use for something else:
    `default` if it holds no number."""
    try:
        return int(os.environ.get(name, default))
    except ValueError:
        return default
