"""Which rank of a distributed job this process is.

A step of one rank waits for those of the others. Whatever decides how many steps a rank takes must
therefore be the same on all ranks: counts of steps, but neither clocks nor messages that may
arrive in different steps.
"""

from __future__ import annotations

import os
import sys


def rank_and_world() -> tuple[int, int]:
    """As torch.distributed has it, else as the launcher says; (0, 1) for a single process."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def local_ranks() -> int:
    """Ranks on this machine, as the launcher says; 1 for a single process."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
