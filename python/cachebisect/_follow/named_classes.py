"""Patches what iterates the objects of a named class, and of its subclasses."""

from __future__ import annotations

import functools
import operator
import sys
import types
from typing import Any, Callable

from .named_instances import Instances, Method

_ITERATES_ITS_OWN = ("grain.",)
"""Modules whose code iterates objects of the classes that users name, also in threads: these are
parts of what the script iterates."""


def watch_methods(kind: Any, instances: Instances, inherited: bool) -> None:
    """Replaces `__iter__`, `__next__` and `reset` of `kind`. `inherited`: also those that it only
    inherits. Raises TypeError for a class of C code."""
    methods = {"__iter__": instances.begin, "__next__": instances.next_batch}
    if hasattr(kind, "__next__"):
        methods["reset"] = instances.reset
    for name, stand_in in methods.items():
        original = getattr(kind, name, None) if inherited else vars(kind).get(name)
        if callable(original):
            setattr(kind, name, _Watched(original, stand_in, instances))
            instances.note_original(kind, name, original)


class _Watched:
    """Stands for `original`, a method of a class. Who sends the class to another process by its
    contents, as cloudpickle does, sends `original`."""

    def __init__(
        self, original: Method, stand_in: Callable[[Any, Method], Any], instances: Instances
    ) -> None:
        functools.update_wrapper(self, original)
        self._original = original
        self._stand_in = stand_in
        self._instances = instances
        self._has_parts = instances.kind.__module__.startswith(_ITERATES_ITS_OWN)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return self._original(owner, *args, **kwargs)
        if self._has_parts and _is_of_library(sys._getframe(1)):
            with self._instances.own_method():
                return self._original(owner)
        return self._stand_in(owner, self._original)

    def __reduce__(self) -> Any:
        return operator.itemgetter(0), ((self._original,),)


def _is_of_library(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_ITERATES_ITS_OWN)


def for_each_subclass(kind: Any, act: Callable[[Any], None]) -> None:
    """Calls `act(subclass)` for those that there are, and for those that are made later."""
    waiting = list(type.__subclasses__(kind))
    while waiting:
        subclass = waiting.pop()
        waiting += type.__subclasses__(subclass)
        act(subclass)
    original: Any = vars(kind).get("__init_subclass__")

    def __init_subclass__(cls: Any, /, **options: Any) -> None:
        if original is None:
            super(kind, cls).__init_subclass__(**options)
        else:
            original.__get__(None, cls)(**options)
        act(cls)

    kind.__init_subclass__ = classmethod(__init_subclass__)
