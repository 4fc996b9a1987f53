"""Tells the engine that a process is not measured, in place of a description of its loader."""

from __future__ import annotations

import contextlib
from typing import Optional

from .._engine.messages import Connection, Message

_TELL_SECONDS = 2.0
_FINISH_SECONDS = 10.0


def tell_engine(connection: Connection, kind: str, reason: str) -> Optional[Message]:
    """Answers `describe` with an error of this kind (docs/extend/protocol.md).

    Returns the engine's `finish`; None if it sends none in time. Raises nothing.
    """
    with contextlib.suppress(Exception):  # The script ends, or goes on, all the same.
        connection.limit_waiting(_TELL_SECONDS)
        connection.answer_error(connection.next_request(), kind, reason)
        connection.limit_waiting(_FINISH_SECONDS)
        request = connection.next_request()
        connection.answer(request)
        return request if request.get("type") == "finish" else None
    return None


def exit_if_told(finish: Optional[Message]) -> None:
    """Raises SystemExit if `finish` ends the script. None: the engine is gone."""
    if finish is not None and finish.get("then") == "exit":
        raise SystemExit(int(finish.get("exit_code", 0)))
