"""Ctrl-C is held back while a process forks, and never lost."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from cachebisect._worker.held_interrupt import HeldInterrupt


@pytest.fixture(autouse=True)
def python_handles_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield  # type: ignore[misc]
    signal.signal(signal.SIGINT, before)


def test_it_counts_at_the_end() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), HeldInterrupt():
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_raised_without_it() -> None:
    with HeldInterrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_inside_is_not_hidden() -> None:
    with pytest.raises(LookupError), HeldInterrupt():
        raise LookupError


def test_a_forked_process_has_it_at_once() -> None:
    with HeldInterrupt():
        child = os.fork()
        if child == 0:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                signal.sigtimedwait([], 0)
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_what_the_system_handles_is_left_to_it(handler: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, handler)
    with HeldInterrupt():
        assert signal.getsignal(signal.SIGINT) is handler


def test_other_threads_are_left_alone() -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with HeldInterrupt():
                pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert errors == []
