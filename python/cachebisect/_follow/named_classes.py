"""Patches what iterates the objects of a named class, and of its subclasses."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .named_instances import Instances, Method


def watch_methods(kind: Any, instances: Instances, inherited: bool) -> None:
    """Replaces `__iter__`, `__next__` and `reset` of `kind`. `inherited`: also those that it only
    inherits. Raises TypeError for a class of C code."""
    methods = {"__iter__": instances.begin, "__next__": instances.next_batch}
    if hasattr(kind, "__next__"):
        methods["reset"] = instances.reset
    for name, stand_in in methods.items():
        original = getattr(kind, name, None) if inherited else vars(kind).get(name)
        if callable(original):
            setattr(kind, name, _watched(original, stand_in))
            instances.note_original(kind, name, original)


def _watched(original: Method, stand_in: Callable[[Any, Method], Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return original(owner, *args, **kwargs)
        return stand_in(owner, original)

    return call


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
