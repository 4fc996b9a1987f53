"""One parameter of a function that is replaced, however its argument is given."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable


class Parameter:
    """Parameter number `at` of `function`, from 0."""

    def __init__(self, function: Callable[..., Any], at: int) -> None:
        self._at = at
        try:
            self._name = list(inspect.signature(function).parameters)[at]
        except (ValueError, TypeError, IndexError):  # It tells nothing of itself.
            self._name = "filename"

    def path(self, args: tuple[Any, ...], options: dict[str, Any]) -> str:
        """The argument if it is a path; empty if it is none, such as an open file."""
        value = args[self._at] if len(args) > self._at else options.get(self._name)
        return path_of(value)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        options: dict[str, Any],
        value: Any,
    ) -> Any:
        """`function(*args, **options)` with `value` in place of the argument. Raises what it
        raises."""
        at = self._at
        if len(args) > at:
            return function(*args[:at], value, *args[at + 1 :], **options)
        return function(*args, **{**options, self._name: value})


def path_of(value: Any) -> str:
    """Empty if `value` is no path."""
    return str(os.fspath(value)) if isinstance(value, (str, os.PathLike)) else ""
