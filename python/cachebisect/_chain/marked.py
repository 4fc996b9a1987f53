"""Functions that the user has marked as stages with `@cachebisect.stage(name)`."""

from __future__ import annotations

import functools
import inspect
import weakref
from typing import Any, Callable, TypeVar

from .functions import takes_self
from .slots import Slot

F = TypeVar("F", bound=Callable[..., Any])


class _Marked:
    """Holds what a marked function calls."""

    __slots__ = ("__weakref__", "bound", "function", "name")

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self.bound = takes_self(function)


_all: weakref.WeakSet[_Marked] = weakref.WeakSet()
"""Every process has its own; those started by spawn mark again when they import the function."""


def stage(name: str) -> Callable[[F], F]:
    """Marks a function that `__getitem__` calls as a stage of its own.

        @cachebisect.stage("tokenize")
        def tokenize(text): ...

    Args:
        name: of the stage, in the report.

    Returns:
        A decorator for functions and methods. The function behaves as before and costs one more
        call; it can be pickled where it could be before. In a class, put it below @staticmethod.

    Raises:
        TypeError: what is decorated is no function that returns its result, or the name is missing.

    Thread safe.
    """
    if not isinstance(name, str) or not name:
        raise TypeError('stage: give a name, as in @cachebisect.stage("tokenize")')

    def mark(function: F) -> F:
        _check(name, function)
        marked = _Marked(name, function)
        _all.add(marked)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return marked.function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return mark


def marked_slots() -> list[Slot]:
    """A slot per marked function of this process, in the order of their names."""
    found = sorted(_all, key=lambda m: (m.name, m.function.__module__, m.function.__qualname__))
    return [_slot(marked) for marked in found]


def _slot(marked: _Marked) -> Slot:
    def put(value: Any) -> None:
        marked.function = value

    place = (id(marked), "function")
    return Slot(marked.name, "custom", lambda: marked.function, put, place, bound=marked.bound)


def _check(name: str, function: Any) -> None:
    if not inspect.isfunction(function) and not inspect.isbuiltin(function):
        kind = type(function).__name__
        raise TypeError(f"stage {name!r}: mark a function or method, not a {kind}")
    generates = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    if generates or inspect.iscoroutinefunction(function):
        raise TypeError(f"stage {name!r}: {function.__name__} does not return its result at once")
