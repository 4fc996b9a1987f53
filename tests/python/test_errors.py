"""What the engine is told of errors in the user's code."""

from __future__ import annotations

import os
from typing import Any

import pytest

import cachebisect
from cachebisect._engine.errors import (
    TRACEBACK_LINES,
    error_fields,
    error_text,
    is_failure_of_job,
    traceback_end,
)
from cachebisect._engine.messages import Interrupted
from cachebisect._job.shadow import LoaderGone


def raised(error: Exception, depth: int = 0) -> Exception:
    def deeper(left: int) -> None:
        if left > 0:
            deeper(left - 1)
        raise error

    try:
        deeper(depth)
    except Exception as caught:
        return caught
    raise AssertionError


def test_one_line_says_what_and_where() -> None:
    text = error_text(raised(ValueError("bad\nsecond line")))
    assert text.startswith("ValueError: bad (") and "test_errors.py:" in text


def test_an_error_in_a_worker_is_placed_in_the_worker() -> None:
    message = (
        "Caught ValueError in DataLoader worker process 0.\nOriginal Traceback (most recent call "
        'last):\n  File "/torch/worker.py", line 1, in _worker_loop\n    fetch()\n'
        '  File "/mine/data.py", line 7, in __getitem__\n    raise ValueError("bad sample 41")\n'
        "ValueError: bad sample 41\n"
    )
    error = raised(ValueError(message))
    assert error_text(error) == "ValueError: bad sample 41 (/mine/data.py:7)"
    assert traceback_end(error)[-1] == "ValueError: bad sample 41"


def test_the_traceback_ends_with_the_error_and_is_short() -> None:
    lines = traceback_end(raised(KeyError("x" * 1000), depth=3))
    assert len(lines) <= TRACEBACK_LINES
    assert lines[-1].startswith("KeyError") and all(len(line) <= 200 for line in lines)
    assert any("raise error" in line for line in lines)


@pytest.mark.parametrize("place", [(), (("model.py", 7, 3, "x = = 1"),)])
def test_a_syntax_error_is_told_by_its_message(place: Any) -> None:
    """Its own lines begin with the code."""
    assert error_text(SyntaxError("invalid syntax", *place)).startswith(
        "SyntaxError: invalid syntax"
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interrupted()])
def test_a_stop_is_no_failure(error: BaseException) -> None:
    fields = error_fields(error, {"type": "run"})
    assert fields["kind"] == "interrupted" and "traceback" not in fields
    assert not is_failure_of_job(error, {"type": "run"})


@pytest.mark.parametrize("request_type,kind", [("describe", "usage"), ("run", "data")])
def test_the_kind_of_an_error_depends_on_the_request(request_type: str, kind: str) -> None:
    error = raised(ValueError("bad"))
    fields = error_fields(error, {"type": request_type})
    assert fields["kind"] == kind and fields["traceback"][-1] == "ValueError: bad"
    assert is_failure_of_job(error, {"type": request_type})


def test_a_changed_loader_that_fails_is_an_answer() -> None:
    def run(overrides: dict[str, str]) -> dict[str, Any]:
        return {"type": "run", "arm": {"kind": "live", "overrides": overrides}}

    error = raised(ValueError("bad"))
    assert is_failure_of_job(error, run({}))
    assert not is_failure_of_job(error, run({"num_workers": "8"}))


CARETS = "           ^^^^^^^^^^"


def test_frames_of_ours_are_left_out() -> None:
    ours = os.path.dirname(os.path.abspath(cachebisect.__file__))
    message = (
        "Caught ValueError in DataLoader worker process 0.\nOriginal Traceback (most recent call "
        f'last):\n  File "{ours}/_worker/server.py", line 7, in fetch\n'
        "    return self._live(task)\n"
        f'{CARETS}\n  File "/mine/data.py", line 7, in __getitem__\n    raise bad\n'
        "ValueError: bad sample 41\n"
    )
    lines = traceback_end(raised(ValueError(message)))
    assert not any("server.py" in line or "_live" in line for line in lines), lines
    assert CARETS not in lines
    assert lines[-3:] == [
        '  File "/mine/data.py", line 7, in __getitem__',
        "    raise bad",
        "ValueError: bad sample 41",
    ]


def test_an_error_of_ours_is_told_in_its_own_words() -> None:
    assert error_text(raised(LoaderGone("a worker died"))) == "a worker died"
