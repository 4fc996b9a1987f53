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
        raise RuntimeError(_death(process.exitcode)) from None
    except BaseException:
        process.kill()
        raise
    finally:
        receiver.close()
        process.join()
    return _result(succeeded, data, text)  # type: ignore[no-any-return]


def _run(function: Callable[[], Any], sender: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)  # Threads of the parent are not here.
    try:
        sender.send((True, pickle.dumps(function()), ""))
    except BaseException as error:
        sender.send((False, _pickled(error), traceback.format_exc()))
    finally:
        sender.close()
        os._exit(0)  # Nothing of the parent's is ended here.


def _pickled(error: BaseException) -> bytes:
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
        return data
    except Exception:  # An exception with arguments of its own.
        return b""


def _result(succeeded: bool, data: bytes, text: str) -> Any:
    if succeeded:
        return pickle.loads(data)
    if not data:
        raise RuntimeError(f"the dataset failed:\n{text}")
    error = pickle.loads(data)
    error.__cause__ = RuntimeError(f"in a child process:\n{text}")
    raise error


def _death(exit_code: Any) -> str:
    how = f"by signal {-exit_code}" if exit_code and exit_code < 0 else f"with {exit_code}"
    return f"cached: the process that made a few samples ended {how}"
