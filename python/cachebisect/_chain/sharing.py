"""Whether an iterator can be opened a second time while the script's own is open."""

from __future__ import annotations

import inspect
import io
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

_PLAIN = (str, bytes, bool, int, float, complex, type(None), type, ModuleType)


def cannot_begin_twice(opened: Any, made_from: Iterable[Any]) -> bool:
    """True if the batches of `opened` come from something that gives each of them once: an
    iterator, a queue, a thread, a process or an open file among `made_from`, the arguments of a
    generator, their attributes, or the closures of functions; or in an object among these, but for
    files, which it may read anywhere."""
    near = list(ingredients(opened, made_from))
    if any(map(gives_once, near)):
        return True
    inside = [part for value in near for part in attributes(value)]
    return any(gives_once(part) and not isinstance(part, io.IOBase) for part in inside)


def ingredients(opened: Any, made_from: Iterable[Any]) -> Iterator[Any]:
    """What sources() gives, and the attributes of these."""
    for value in sources(opened, made_from):
        yield value
        yield from attributes(value)


def sources(opened: Any, made_from: Iterable[Any]) -> list[Any]:
    """`made_from`, and what `opened` was called with if it is a generator."""
    return [*made_from, *_arguments_of(opened)]


def _arguments_of(opened: Any) -> list[Any]:
    """What a generator was called with: what it has made itself is its own."""
    frame = getattr(opened, "gi_frame", None) if inspect.isgenerator(opened) else None
    if frame is None:
        return []
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names = [*code.co_varnames[:count], *code.co_freevars]
    return [values[name] for name in names if name in values]


def attributes(value: Any) -> list[Any]:
    """Those of an object; the items of a list or dict; what a function refers to."""
    if isinstance(value, _PLAIN):
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if inspect.isfunction(value):
        return [cell.cell_contents for cell in value.__closure__ or () if _is_set(cell)]
    names = getattr(value, "__dict__", None)
    return list(names.values()) if type(names) is dict else []


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def gives_once(value: Any) -> bool:
    """True for an iterator, a thread, an open file, a queue and a process."""
    if isinstance(value, _PLAIN):
        return False
    if isinstance(value, (Iterator, threading.Thread, io.IOBase)):
        return True
    kind = type(value)
    is_queue = callable(getattr(kind, "get", None)) and callable(getattr(kind, "put", None))
    is_process = callable(getattr(kind, "is_alive", None)) and callable(getattr(kind, "join", None))
    return is_queue or is_process


def draws(value: Any) -> bool:
    """True for a generator of random numbers of torch, NumPy or Python."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    kinds: list[type] = [random.Random] + ([torch.Generator] if torch is not None else [])
    kinds += [numpy.random.Generator, numpy.random.RandomState] if numpy is not None else []
    return isinstance(value, tuple(kinds))
