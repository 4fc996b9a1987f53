"""Runs a function in a child process, so that this one keeps nothing of what it did.

A dataset may open files when it makes its first sample; workers that are forked later must not
inherit them. Thread safe.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import traceback
import warnings
from typing import Any, Callable, TypeVar

from .._worker.held_interrupt import HeldInterrupt

T = TypeVar("T")


def in_child(function: Callable[[], T]) -> T:
    """What `function` returns in a forked process. Raises what it raises; RuntimeError if the
    process ends by itself."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, sender), daemon=False)
    with HeldInterrupt(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # As workers of a DataLoader are.
        process.start()
    sender.close()
    try:
        succeeded, data, text = receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(death(process.exitcode)) from None
    except BaseException:
        process.kill()
        raise
    finally:
        receiver.close()
        process.join()
    if not succeeded:
        raise raised_in_child(data, text)
    return pickle.loads(data)  # type: ignore[no-any-return]


def _run(function: Callable[[], Any], sender: Any) -> None:
    begin_child()
    try:
        sender.send((True, pickle.dumps(function()), ""))
    except BaseException as error:
        sender.send((False, pickled_error(error), traceback.format_exc()))
    finally:
        sender.close()
        os._exit(0)  # Nothing of the parent's is ended here.


def begin_child() -> None:
    """What a forked process does first. Ctrl-C ends it without words."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)  # Threads of the parent are not here.


def pickled_error(error: BaseException) -> bytes:
    """Empty for an error that cannot be pickled."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
        return data
    except Exception:  # An exception with arguments of its own.
        return b""


def raised_in_child(data: bytes, text: str) -> BaseException:
    """The error that pickled_error() gave; `text`: its traceback."""
    if not data:
        return RuntimeError(f"the dataset failed:\n{text}")
    error: BaseException = pickle.loads(data)
    error.__cause__ = RuntimeError(f"in a child process:\n{text}")
    return error


def death(exit_code: Any) -> str:
    """In words, how a process ended that made samples."""
    how = f"by signal {-exit_code}" if exit_code and exit_code < 0 else f"with {exit_code}"
    return f"cached: the process that made a few samples ended {how}"
