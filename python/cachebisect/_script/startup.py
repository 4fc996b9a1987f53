"""What runs in each Python process of `cachebisect run`, before the script.

Connects to the engine, answers its greeting, and waits for torch to be imported. Does nothing that
can stop the script. Children of multiprocessing do not come here.
"""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING, Any

from .._follow.after_import import after_import
from .._follow.backward import FollowedBackward
from .._follow.loaders import follow_loaders
from .._follow.named_iterator import NamedIterator
from .._follow.optimizer_steps import follow_steps
from .._follow.step_loops import follow_step_loops

if TYPE_CHECKING:
    from .session import Session

SOCKET = "CACHEBISECT_SOCKET"
LOADER = "CACHEBISECT_LOADER"
"""Number of the loader that is measured, from 1."""
ITERATOR = "CACHEBISECT_ITERATOR"
"""What is measured in place of a DataLoader: "package.module:Class", and so on."""
SAMPLES = "CACHEBISECT_SAMPLES_PER_BATCH"
"""What each batch counts as."""
THEN = "CACHEBISECT_THEN"
""" "exit": the script does not go on after it was measured."""
PROTECT = "CACHEBISECT_PROTECT"
""" "0": what measured steps save goes where the script says."""
_GREETING_SECONDS = 30.0
"""An engine that is silent for longer must not hold up the script."""


def start() -> None:
    """Called once by sitecustomize."""
    path = os.environ.get(SOCKET)
    if not path:
        return
    from .._engine.adapter import Adapter
    from .._engine.messages import Connection, ConnectionLost
    from .seen_loaders import SeenLoaders
    from .session import Session
    from .steps_iterator import StepLoops

    wanted = os.environ.get(LOADER)

    try:
        connection = Connection.open(path, timeout=0)  # Gone once a loader is measured.
        connection.limit_waiting(_GREETING_SECONDS)
        Adapter(connection, _no_job).answer_greeting()
        connection.limit_waiting(None)
    except ConnectionLost:
        return
    loaders = SeenLoaders(int(wanted) if wanted else None)
    samples = os.environ.get(SAMPLES)
    protects = os.environ.get(PROTECT) != "0"
    ends = os.environ.get(THEN) == "exit"
    iterator = os.environ.get(ITERATOR)
    named = NamedIterator(iterator, keeps=not ends) if iterator else None
    counts_as = int(samples) if samples else None
    session = Session(connection, loaders, protects, counts_as, ends, named)
    atexit.register(session.explain)
    follow_step_loops(StepLoops(session).iterator)
    if named is not None:
        named.follow(session)
    after_import("torch.utils.data.dataloader", lambda module: follow_loaders(session, module))
    after_import("torch.autograd", lambda module: _follow_backward(session, module))
    after_import("torch.optim.optimizer", lambda module: _follow_optimizers(session, module))
    if named is not None:
        # The last of these modules that torch imports: from here on the script makes its own.
        after_import("torch.optim.optimizer", lambda _module: named.look_in_script())


def _follow_backward(session: Session, autograd: Any) -> None:
    """Notes the first call; later ones cost nothing."""

    def begun() -> bool:
        followed.remove()
        session.has_computed_gradients = True
        return False

    followed = FollowedBackward(autograd, begun)


def _follow_optimizers(session: Session, optimizer_module: Any) -> None:
    follow_steps(optimizer_module, lambda optimizer, _args, _kwargs: session.note_step(optimizer))


def _no_job(_writes_batches: bool) -> Any:
    raise RuntimeError("no loader has been found yet")
