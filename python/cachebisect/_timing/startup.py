"""What runs in each Python process of `cachebisect time -- CMD`, before the script."""

from __future__ import annotations

import atexit
import json
import os

from .._follow.after_import import after_import
from .._follow.loaders import follow_loaders
from .._script.child_processes import command_line, is_multiprocessing_child
from .fetches import FetchLog, follow_fetches
from .hooks import TimedLoaders, follow_backward, follow_optimizers
from .profiling import ProfilingSession
from .session import TimingSession

OPTIONS = "CACHEBISECT_TIME"
"""A JSON object: file, epochs, max_batches, max_seconds, then."""

PROFILE = "CACHEBISECT_PROFILE"
"""Set by `cachebisect profile`. A JSON object with the members that ProfilingSession describes."""


def start() -> None:
    """Called once by sitecustomize. Of several ranks, the first one is timed."""
    text = os.environ.get(OPTIONS)
    if not text or os.environ.get("RANK", "0") != "0":
        return
    profile = json.loads(os.environ.get(PROFILE) or "null")
    if profile is not None:
        log = FetchLog(str(profile["fetches"]))
        # Workers that are not forked come here too.
        after_import("torch.utils.data._utils.fetch", lambda module: follow_fetches(log, module))
    if is_multiprocessing_child(command_line()):
        return
    options = json.loads(text)
    session = TimingSession(options) if profile is None else ProfilingSession(options, profile)
    atexit.register(session.end, "script")
    after_import(
        "torch.utils.data.dataloader", lambda module: follow_loaders(TimedLoaders(session), module)
    )
    after_import("torch.autograd", lambda module: follow_backward(session, module))
    after_import("torch.optim.optimizer", lambda module: follow_optimizers(session, module))
