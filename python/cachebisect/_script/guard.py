"""Stands between a user's loop and what observes it."""

from __future__ import annotations

import traceback
from typing import Any, Callable, Optional, TypeVar

_Result = TypeVar("_Result")


class Guard:
    """Runs what observes a loop. After its first error nothing is observed any more.

    `failure`: that error in words. Not thread safe: two threads that fail leave one of the errors.
    """

    def __init__(self) -> None:
        self.failure: Optional[str] = None

    def observe(self, act: Callable[..., _Result], *args: Any) -> Optional[_Result]:
        """`act(*args)`; None if it raised, now or earlier. Raises nothing but SystemExit and
        KeyboardInterrupt."""
        if self.failure is not None:
            return None
        try:
            return act(*args)
        except Exception as error:
            self.failure = _described(error)
            return None


def _described(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    file = last.filename.rpartition("/cachebisect/")[2]
    return (
        f"cachebisect failed while it observed the loop: {type(error).__name__}: {error} "
        f"({file}:{last.lineno}); every batch was handed over as it was"
    )
