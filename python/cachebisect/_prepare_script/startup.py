"""What runs in each Python process of `cachebisect prepare -- CMD`, before the script."""

from __future__ import annotations

import json
import os

from .._follow.after_import import after_import
from .._follow.loaders import follow_loaders
from .._script.child_processes import command_line, is_multiprocessing_child

OPTIONS = "CACHEBISECT_PREPARE"
"""A JSON object with the members that PreparingSession describes."""


def start() -> None:
    """Called once by sitecustomize. Of several ranks, the first one prepares."""
    text = os.environ.get(OPTIONS)
    if not text or os.environ.get("RANK", "0") != "0":
        return
    if is_multiprocessing_child(command_line()):
        return
    from .session import PreparingSession

    session = PreparingSession(json.loads(text))
    after_import("torch.utils.data.dataloader", lambda module: follow_loaders(session, module))
