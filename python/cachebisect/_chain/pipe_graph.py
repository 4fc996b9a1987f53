"""The chain of torch's data pipes behind a dataset: its members, and which can be opened up.

torch is never imported here. Not thread safe.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections import deque
from typing import Any, NamedTuple, Optional

from .node_copy import makes_threads
from .sharing import attributes, gives_once
from .slots import callable_name

OWN_MODULE = "torch.utils.data."
_WRAPPER = "_IterDataPipeSerializationWrapper"
_FUNCTIONS = {"Mapper": "map", "Collator": "collate", "Filter": "filter"}
"""Members of torch whose function is the stage, and what a chain calls them."""
_METHODS = {
    "Batcher": "batch", "UnBatcher": "unbatch", "Shuffler": "shuffle", "Grouper": "groupby",
    "ShardingFilter": "sharding_filter",
}  # fmt: skip
_SIZES = ("buffer_size", "max_buffer_size", "batch_size")
_CONTAINERS = (list, tuple, set, frozenset, deque)
_LOOKED_AT = 100


class Member(NamedTuple):
    """A pipe that takes the items of one other."""

    pipe: Any
    source: str
    """Its attribute that holds the other one."""


class Graph(NamedTuple):
    """What a dataset reads: `source`, and the members behind it, the last one last."""

    source: Any
    members: tuple[Member, ...]
    why_not: str
    """Why the source, which takes items of other pipes, is not opened up; empty: it takes none."""


def is_pipe(value: Any) -> bool:
    """True for a torch.utils.data.IterDataPipe."""
    module = sys.modules.get("torch.utils.data.datapipes.datapipe")
    base = getattr(module, "IterDataPipe", None)
    return isinstance(base, type) and isinstance(value, base)


def is_wrapper(value: Any) -> bool:
    """True for what torch's DataLoader puts around a pipe."""
    return is_pipe(value) and type(value).__name__ == _WRAPPER and hasattr(value, "_datapipe")


def graph_of(dataset: Any) -> Optional[Graph]:
    """The chain that `dataset` is; None if it is no data pipe. Calls nothing of the pipes."""
    pipe = dataset._datapipe if is_wrapper(dataset) else dataset
    if not is_pipe(pipe):
        return None
    members: list[Member] = []
    while True:
        name, why_not = source_of(pipe)
        if not name or any(pipe is known.pipe for known in members):
            return Graph(pipe, tuple(reversed(members)), why_not)
        members.append(Member(pipe, name))
        pipe = vars(pipe)[name]


def divide(dataset: Any, worker: int, workers: int, ranks: tuple[int, int]) -> None:
    """Tells a data pipe in a worker which part of the items it gives, as torch's DataLoader does.
    `ranks`: how many there are, and the number of this one."""
    settings = getattr(sys.modules.get("torch.utils.data"), "graph_settings", None)
    if settings is None or not is_pipe(dataset):
        return
    world, rank = ranks
    with contextlib.suppress(Exception):  # The loader of the user says it better.
        settings.apply_sharding(dataset, workers * world, worker * world + rank)


def function_of(pipe: Any) -> Optional[str]:
    """The attribute that holds all that a member of torch does; None for others."""
    if not type(pipe).__module__.startswith(OWN_MODULE) or short_name(pipe) not in _FUNCTIONS:
        return None
    return "filter_fn" if short_name(pipe) == "Filter" else "fn"


def name_of_pipe(pipe: Any) -> str:
    """As the code has it: "map decode", "batch(4)", "shuffle(buffer_size=1000)", or its class."""
    kind = short_name(pipe)
    if not type(pipe).__module__.startswith(OWN_MODULE):
        size = buffer_of(pipe)
        return kind if size is None else f"{kind}(buffer_size={size})"
    function = function_of(pipe)
    if function is not None:
        return f"{_FUNCTIONS[kind]} {callable_name(vars(pipe)[function])}"
    held = f"buffer_size={buffer_of(pipe)}" if kind in ("Shuffler", "Grouper") else ""
    held = str(vars(pipe).get("batch_size")) if kind == "Batcher" else held
    name = _METHODS.get(kind, kind)
    return f"{name}({held})" if held else name


def buffer_of(pipe: Any) -> Optional[int]:
    """Items that a pipe holds back to choose from them, as far as it shows; None: none."""
    held = vars(pipe)
    return next((held[name] for name in _SIZES[:2] if type(held.get(name)) is int), None)


def shuffles(pipe: Any) -> bool:
    """True for a pipe that gives items of a buffer in another order."""
    return buffer_of(pipe) is not None and "shuffl" in short_name(pipe).lower()


def items_at_once(pipe: Any) -> int:
    """The most items that a pipe needs for one of its own, as far as it shows."""
    sizes = [size for name in _SIZES if type(size := vars(pipe).get(name)) is int]
    return max([1, *sizes])


def short_name(pipe: Any) -> str:
    """That of its class, without the end that all of torch's have."""
    name = type(pipe).__name__
    short = name[: -len("IterDataPipe")] if name.endswith("IterDataPipe") else name
    return short or name


def source_of(pipe: Any) -> tuple[str, str]:
    """The attribute that holds the only pipe that `pipe` takes items from, if it can be opened up.
    Else it is empty, and there is a reason if the pipe takes items from others."""
    held = vars(pipe)
    links = [name for name, value in held.items() if is_pipe(value)]
    others = [value for name, value in held.items() if name not in links]
    hides = any(_holds_pipe(value, 2) for value in others)
    if not links and not hides:
        return "", ""
    name = short_name(pipe)
    if len(links) != 1 or hides or getattr(type(pipe), "_is_child_datapipe", False):
        return "", f"{name} takes items from several pipes, or shares one with others"
    if makes_threads(type(pipe), OWN_MODULE):
        return "", f"{name} makes items in advance, in threads or processes of its own"
    if any(map(gives_once, others)):
        return "", f"{name} holds an iterator, a file or a queue"
    if has_other_state(type(pipe)):
        return "", f"{name} cannot be copied: it has a __del__ or __slots__"
    return links[0], ""


def _holds_pipe(value: Any, depth: int) -> bool:
    """Looks at attributes, items of containers and the objects of methods."""
    parts = value if isinstance(value, _CONTAINERS) else attributes(value)
    owner = getattr(value, "__self__", None)
    near = [*([] if owner is None else [owner]), *itertools.islice(parts, _LOOKED_AT)]
    return any(is_pipe(part) or (depth > 1 and _holds_pipe(part, depth - 1)) for part in near)


def has_other_state(kind: type) -> bool:
    """True if a copy of the attributes would not be all, or would end what both share."""
    own = [base for base in kind.__mro__ if not base.__module__.startswith(OWN_MODULE)]
    slots = [name for base in own for name in _slots_of(base)]
    return bool(slots) or any("__del__" in vars(base) for base in own)


def _slots_of(kind: type) -> list[str]:
    named = vars(kind).get("__slots__", ())
    names = [named] if isinstance(named, str) else list(named)
    return [name for name in names if name not in ("__dict__", "__weakref__")]
