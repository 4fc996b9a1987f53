"""Errors of the user's code, as the report shows them."""

from __future__ import annotations

import os
import re
import traceback
from typing import Any

from .messages import Interrupted, Message

TRACEBACK_LINES = 12
_LINE_LENGTH = 200
_STOPS = (Interrupted, KeyboardInterrupt)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PACKAGE_NAME = __name__.partition(".")[0]
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')


def error_fields(error: BaseException, request: Message) -> dict[str, Any]:
    """What answers `request`: the kind, text and traceback of Connection.answer_error()."""
    if isinstance(error, _STOPS):
        return {"kind": "interrupted", "text": error_text(error)}
    kind = "usage" if request.get("type") == "describe" else "data"
    return {"kind": kind, "text": error_text(error), "traceback": traceback_end(error)}


def is_failure_of_job(error: BaseException, request: Message) -> bool:
    """False if the user stopped it, and in a block of a changed loader: there it is an answer."""
    return not isinstance(error, _STOPS) and not request.get("arm", {}).get("overrides")


def error_text(error: BaseException) -> str:
    """One line: what happened, and where. Of an error in a worker, that in the worker."""
    if type(error).__module__.startswith(f"{_PACKAGE_NAME}."):  # It says all in words.
        return str(error)
    lines = _lines(error)
    message = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    in_worker = any("Original Traceback" in line for line in message)
    places = _PLACE.findall("\n".join(message if in_worker else lines))
    where = f" ({places[-1][0]}:{places[-1][1]})" if places else ""
    if isinstance(error, SyntaxError):  # Its first lines show the code.
        return f"{type(error).__name__}: {error.msg}{where}"
    return message[-1 if in_worker else 0].strip() + where


def traceback_end(error: BaseException) -> list[str]:
    """The last lines of the traceback, that of the worker included."""
    return [line[:_LINE_LENGTH] for line in _lines(error)[-TRACEBACK_LINES:]]


def _lines(error: BaseException) -> list[str]:
    """The lines of the traceback, without our own frames, in this process and in the worker."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    kept: list[str] = []
    ours = False
    for line in lines:
        frame = _PLACE.search(line)
        if frame is not None:
            ours = frame.group(1).startswith(_PACKAGE)
        elif not line.startswith("    "):  # Below a frame stands its code.
            ours = False
        if not ours:
            kept.append(line)
    return kept
