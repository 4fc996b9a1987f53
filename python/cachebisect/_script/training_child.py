"""What a child of multiprocessing that trains says: it is not measured."""

from __future__ import annotations

import os
from typing import Optional

from .._engine.adapter import Adapter
from .._engine.messages import Connection, Message
from .._job.job import Job
from .refusals import STEPS
from .telling import tell_engine

_SECONDS = 10.0


class StepsOfChild:
    """Steps of optimizers in a forked process. Not thread safe."""

    def __init__(self) -> None:
        self._steps = 0

    def note(self) -> None:
        """One more. Raises SystemExit if the engine ends a script whose child trains."""
        self._steps += 1
        if self._steps == STEPS:
            tell()


def tell() -> None:
    """Tells the engine, if it waits for a loader. Raises SystemExit if it ends the script."""
    try:
        finish = _tell()
    except Exception:  # Another process is measured.
        return
    if finish is not None and finish.get("then") == "exit":
        raise SystemExit(int(finish.get("exit_code", 0)))


def _tell() -> Optional[Message]:
    connection = Connection.open(os.environ["CACHEBISECT_SOCKET"], timeout=0)
    try:
        connection.limit_waiting(_SECONDS)
        Adapter(connection, _no_job).answer_greeting()
        return tell_engine(connection, "usage", _reason())
    finally:
        connection.close()


def _reason() -> str:
    return (
        f"training runs in a child of multiprocessing (process {os.getpid()}), which is not "
        "measured: start the ranks with torchrun, or train in the process that is started; or call "
        "cachebisect.bisect(loader, step) in the child"
    )


def _no_job(_writes_batches: bool) -> Job:
    raise RuntimeError("no loader is measured here")
