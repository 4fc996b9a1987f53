"""What a process says about itself."""

from __future__ import annotations

import os
import sys
from typing import Any

from .._job.ranks import rank_and_world
from .._version import __version__
from .messages import PROTOCOL_VERSION


def greeting() -> dict[str, Any]:
    """Fields of the answer to `hello`."""
    torch = sys.modules.get("torch")
    rank, world = rank_and_world()
    return {
        "protocol": PROTOCOL_VERSION,
        "adapter": f"cachebisect-python {__version__}",
        "pid": os.getpid(),
        "rank": rank,
        "world": world,
        "python": sys.version.split()[0],
        "torch": getattr(torch, "__version__", None),
        "program": os.path.basename(sys.argv[0]) if sys.argv else "",
    }
