"""What a process says about itself, and about errors, in words."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from ._messages import PROTOCOL_VERSION
from ._ranks import rank_and_world
from ._version import __version__


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


def error_text(error: BaseException) -> str:
    """The error and where it was raised."""
    lines = traceback.format_exception_only(type(error), error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return "".join(lines).strip() + where
