"""Names functions that a profile found, and finds functions by those names.

A name is "module.function" or "module.Class.method", without the module if that is the script. The
same name finds the same function in every worker. Not thread safe.
"""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, Optional, Union

from .slots import Slot

_BUILTIN = re.compile(r"<built-in method ([\w.]+)\.(\w+)>")
_MAIN = ("__main__", "__mp_main__")

Code = Union[types.CodeType, str]
"""A function as cProfile names it: its code, or the words for one that is written in C."""


def name_of(code: Code) -> Optional[str]:
    """The name of the function; None if no module or class alone holds it."""
    if isinstance(code, str):
        return _builtin_name(code)
    found: dict[int, str] = {}
    for module_name, module in _modules():
        for key, value in list(vars(module).items()):
            if issubclass(type(value), type) and value.__module__ in (module_name, *_MAIN):
                for attribute, held in list(vars(value).items()):
                    if _code_of(_plain(held)) is code:
                        name = _joined(module_name, f"{value.__qualname__}.{attribute}")
                        found.setdefault(id(_plain(held)), name)
            elif _code_of(value) is code and value.__module__ in (module_name, *_MAIN):
                found.setdefault(id(value), _joined(module_name, key))
    return next(iter(found.values())) if len(found) == 1 else None


def function_slot(name: str) -> Optional[Slot]:
    """The slot of the function `name`, in every module that holds it; None if there is none."""
    parts = name.split(".")
    for length in range(len(parts) - 1, -1, -1):
        module = sys.modules.get(".".join(parts[:length]) or "__main__")
        if module is not None:
            return _slot_in(module, parts[length:], name)
    return None


def is_of_a_library(code: Code) -> bool:
    """True for code of Python itself and of installed packages."""
    if isinstance(code, str):
        return True
    return code.co_filename.startswith(_library_folders()) or code.co_filename.startswith("<frozen")


def _builtin_name(words: str) -> Optional[str]:
    match = _BUILTIN.fullmatch(words)
    if match is None or match[1] == "builtins":
        return None
    function = getattr(sys.modules.get(match[1]), match[2], None)
    return f"{match[1]}.{match[2]}" if isinstance(function, types.BuiltinFunctionType) else None


def _slot_in(module: Any, parts: list[str], name: str) -> Optional[Slot]:
    owner = module
    for part in parts[:-1]:
        owner = vars(owner).get(part)
        if not isinstance(owner, type):
            return None
    held = vars(owner).get(parts[-1])
    if isinstance(owner, type):
        return _class_slot(owner, parts[-1], held, name)
    if not isinstance(held, (types.FunctionType, types.BuiltinFunctionType)):
        return None
    return _module_slot(held, (id(owner), parts[-1]), name)


def _module_slot(function: Any, place: tuple[Any, ...], name: str) -> Slot:
    """All modules that have imported the function by name hold it too."""
    holders = [
        (vars(module), key)
        for _, module in _modules()
        for key, value in list(vars(module).items())
        if value is function
    ]

    def put(value: Any) -> None:
        for held, key in holders:
            held[key] = value

    first, first_key = holders[0]
    return Slot(name, "custom", lambda: first[first_key], put, place, bound=takes_self(function))


def _class_slot(owner: type, key: str, held: Any, name: str) -> Optional[Slot]:
    static = isinstance(held, staticmethod)
    function = _plain(held)
    if not isinstance(function, types.FunctionType):
        return None

    def put(value: Any) -> None:
        def call(*args: Any, **kwargs: Any) -> Any:
            return value(*args, **kwargs)

        plain = value if isinstance(value, types.FunctionType) else call
        setattr(owner, key, staticmethod(plain) if static else plain)

    bound = not static
    return Slot(
        name, "custom", lambda: _plain(vars(owner)[key]), put, (id(owner), key), bound=bound
    )


def takes_self(function: Any) -> bool:
    """True if the first parameter is the object whose method the function is."""
    code = _code_of(function)
    return code is not None and code.co_varnames[: code.co_argcount][:1] in (("self",), ("cls",))


def _modules() -> Iterator[tuple[str, types.ModuleType]]:
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and id(module) not in seen:
            seen.add(id(module))
            yield name, module


def _plain(held: Any) -> Any:
    return held.__func__ if isinstance(held, staticmethod) else held


def _code_of(value: Any) -> Optional[types.CodeType]:
    return value.__code__ if type(value) is types.FunctionType else None


def _joined(module: str, name: str) -> str:
    return name if module in _MAIN else f"{module}.{name}"


@functools.lru_cache(maxsize=1)
def _library_folders() -> tuple[str, ...]:
    import sysconfig

    return tuple({path for key, path in sysconfig.get_paths().items() if key.endswith("lib")})
