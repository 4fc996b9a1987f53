"""Where in the user's own code something happens."""

from __future__ import annotations

import os
import sys
import sysconfig

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = tuple(
    {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_GENERATED = f"{os.sep}torchinductor_"
"""In the paths of what torch.compile writes."""


def place_of_caller() -> str:
    """ "train.py:41": the innermost line of this thread's stack that is in no library; empty if
    there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def is_ours(file: str) -> bool:
    """True for a file of this package."""
    return file.startswith(_PACKAGE)


def is_users(file: str) -> bool:
    """True for a file that is part of no library, and was not generated."""
    if file.startswith("<") or is_ours(file) or _GENERATED in file:
        return False
    return not file.startswith(_LIBRARIES) and not any(part in file for part in _INSTALLED)


def script_name() -> str:
    """The name of the script that this process runs, for messages."""
    return os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "the script"
