"""Watches callables of Python and its libraries for a while.

What is watched behaves as before: arguments, results and errors pass through.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import sys
import types
from typing import Any, Callable, NamedTuple, Optional

from .libraries import holders
from .stand_ins import Stand
from .storage_calls import CALLS, Call


class Watcher(NamedTuple):
    """What is told of the calls of one callable. Neither function may take long; what it raises is
    dropped."""

    begin: Callable[[tuple[Any, ...], dict[str, Any]], Any]
    """Before the call, with its arguments. What it returns is handed to `end`; None: `end` is not
    told of this call."""
    end: Callable[[Any, Any, Optional[BaseException]], None]
    """After the call, of coroutine functions after its end: what `begin` gave, what the call
    returned, and what it raised."""


class _Place(NamedTuple):
    get: Callable[[], Any]
    put_back: Callable[[], None]
    instead: Any
    """What stands there now."""


class Watched:
    """As a context: CALLS are watched in this process. `watcher_of`: who is told of a call.

    What cannot be replaced is left out. What somebody keeps of it beyond the context, and what a
    process that is forked inside it has of it, calls the original and nothing else.
    """

    def __init__(self, watcher_of: Callable[[Call], Watcher]) -> None:
        self._watcher_of = watcher_of
        self._process = os.getpid()
        self._watches = False
        self._places: list[_Place] = []
        self._functions: list[tuple[Any, Any]] = []
        """Functions of modules, and what stands for them."""

    def __enter__(self) -> None:
        self._watches = True
        try:
            self._replace_all()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        self._watches = False
        try:
            self._put_back()
        except BaseException:  # The handler of a signal has raised in the middle of it.
            self._put_back()
            raise

    def _replace_all(self) -> None:
        found: dict[int, tuple[Call, Any]] = {}
        for call in CALLS:
            module = getattr(sys.modules.get(call.module), "__dict__", {})
            name, _, method = call.callable.partition(".")
            held = module.get(name)
            if method and isinstance(held, type):
                self._replace_method(call, held, method)
            elif isinstance(held, type):  # Classes keep their other names.
                self._put(module, name, held, self._stand_for(call, held))
            elif not method and callable(held):
                found[id(held)] = call, held
        places = holders(held for _, held in found.values())
        for key, (call, held) in found.items():
            instead = self._stand_for(call, held)
            self._functions.append((held, instead))
            for names, name in places[key]:
                self._put(names, name, held, instead)

    def _put(self, names: dict[str, Any], name: str, original: Any, instead: Any) -> None:
        put_back = functools.partial(names.__setitem__, name, original)
        self._places.append(_Place(functools.partial(names.get, name), put_back, instead))
        names[name] = instead

    def _replace_method(self, call: Call, owner: type, name: str) -> None:
        own = vars(owner).get(name)
        original = getattr(owner, name, None) if own is None else own
        if not isinstance(original, (types.FunctionType, types.MethodDescriptorType)):
            return
        instead = self._function_for(call, original)
        put_back: Callable[[], None] = functools.partial(setattr, owner, name, own)
        if own is None:
            put_back = functools.partial(delattr, owner, name)
        place = _Place(lambda: vars(owner).get(name), put_back, instead)
        self._places.append(place)
        try:
            setattr(owner, name, instead)
        except (AttributeError, TypeError):  # A type that is written in C and does not change.
            self._places.remove(place)

    def _put_back(self) -> None:
        for place in reversed(self._places):
            if place.get() is place.instead:
                place.put_back()
        # Modules that were imported meanwhile have taken them by name.
        left = holders(instead for _, instead in self._functions)
        for original, instead in self._functions:
            for names, name in left[id(instead)]:
                names[name] = original
        self._places.clear()
        self._functions.clear()

    def _stand_for(self, call: Call, original: Any) -> Any:
        """For a name of a module."""
        instead = self._function_for(call, original)
        # A function that is an attribute of a class is a method of it, what is written in C is not.
        return instead if isinstance(original, types.FunctionType) else _Stand(original, instead)

    def _function_for(self, call: Call, original: Any) -> Callable[..., Any]:
        return _passing(original, self._watcher_of(call), self._is_on)

    def _is_on(self) -> bool:
        return self._watches and os.getpid() == self._process


class _Stand(Stand):
    """Looks like a function or a class that is written in C."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        original = object.__getattribute__(self, "_original")
        return _named, (original.__module__, original.__name__)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, object.__getattribute__(self, "_original"))

    def __mro_entries__(self, _bases: Any) -> tuple[Any, ...]:
        return (object.__getattribute__(self, "_original"),)


def _named(module: str, name: str) -> Any:
    """What `pickle` finds by its name."""
    return getattr(importlib.import_module(module), name)


def _passing(original: Any, watcher: Watcher, is_on: Callable[[], bool]) -> Callable[..., Any]:
    """A function that calls `original` and tells `watcher`."""

    def begun(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_on():
            with contextlib.suppress(Exception):
                return watcher.begin(args, kwargs)
        return None

    def ended(note: Any, result: Any, error: Optional[BaseException]) -> None:
        if note is not None:
            with contextlib.suppress(Exception):
                watcher.end(note, result, error)

    def call(*args: Any, **kwargs: Any) -> Any:
        note = begun(args, kwargs)
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            ended(note, None, error)
            raise
        ended(note, result, None)
        return result

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        note = begun(args, kwargs)
        try:
            result = await original(*args, **kwargs)
        except BaseException as error:
            ended(note, None, error)
            raise
        ended(note, result, None)
        return result

    is_async = inspect.iscoroutinefunction(original)
    return functools.wraps(original)(call_async if is_async else call)
