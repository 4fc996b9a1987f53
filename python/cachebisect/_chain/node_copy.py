"""Copies of the nodes of torchdata.nodes. Not thread safe.

A copy shares what a node was made with, such as data sets and functions, and has containers and
random generators of its own. torchdata is never imported here.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import sys
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Callable

from . import tree_sizes, trees
from .node_epoch import few_in
from .sharing import attributes, draws, gives_once

Around = Callable[[Any, Any], Any]
"""What takes the place of a copy of a node, by the node and the copy."""

OWN_MODULE = "torchdata."
MADE_BY_RESET = "_it"
CONTAINERS = (list, dict, set, deque, bytearray)
_KNOWN = (
    "Batcher", "IterableWrapper", "ParallelMapper", "PinMemory", "Prefetcher", "SamplerWrapper",
    "Unbatcher", "_ParallelMapperImpl",
)  # fmt: skip
_SYNCHRONISED = (threading.Event, threading.Semaphore, threading.Condition, threading.Barrier)
_MAKES_THREADS = {
    "Thread", "Process", "Queue", "SimpleQueue", "Pool", "ThreadPool", "ThreadPoolExecutor",
    "ProcessPoolExecutor",
}  # fmt: skip
_LOOKED_AT = 1000
_SMALL_BYTES = 16e6
"""Of tensors and arrays that a node may write into."""


class CannotCopy(Exception):
    """A copy of a node would share what it changes. The text says why."""


def is_node(value: Any) -> bool:
    """True for a torchdata.nodes.BaseNode."""
    base = getattr(sys.modules.get("torchdata.nodes.base_node"), "BaseNode", None)
    return base is not None and isinstance(value, base)


def is_known(node: Any) -> bool:
    """True for a node of torchdata itself that makes in `reset` all that it changes."""
    kind = type(node)
    return kind.__module__.startswith(OWN_MODULE) and kind.__name__ in _KNOWN


def refuse_shared(node: Any) -> None:
    """Raises CannotCopy if a copy of `node` would end, leave behind or move on what it shares."""
    if is_known(node):
        return
    name = type(node).__name__
    if hasattr(type(node), "__del__"):
        raise CannotCopy(f"{name} has a __del__, which would run for each copy")
    if makes_threads(type(node), OWN_MODULE):
        raise CannotCopy(f"{name} has threads or queues of its own")
    for attribute, value in vars(node).items():
        is_seen = is_node(value) or any(map(is_node, few_in(value)))
        if attribute != MADE_BY_RESET and not is_seen and _holds_node(value, 2):
            raise CannotCopy(f"{name} holds nodes inside of its attribute {attribute}")


def makes_threads(kind: type, library: str) -> bool:
    """As far as the code of classes that are not of `library` tells. Nothing would end the threads
    of copies."""
    own = [base for base in kind.__mro__ if not base.__module__.startswith(library)]
    methods = [inspect.unwrap(value) for base in own for value in vars(base).values()]
    codes = [getattr(value, "__code__", None) for value in methods]
    return any(code is not None and _MAKES_THREADS.intersection(code.co_names) for code in codes)


def _holds_node(value: Any, depth: int) -> bool:
    """Looks at attributes, and items of containers, so many levels deep."""
    is_container = isinstance(value, (dict, *CONTAINERS, tuple)) and not isinstance(
        value, bytearray
    )
    inside = value.values() if isinstance(value, dict) else value
    near = itertools.islice(inside, _LOOKED_AT) if is_container else attributes(value)
    return any(is_node(part) or (depth > 1 and _holds_node(part, depth - 1)) for part in near)


class Copying:
    """One copy of a graph, in which each node is copied once."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._made: dict[int, Any] = {}

    def of(self, node: Any) -> Any:
        """The copy of `node`. Raises CannotCopy."""
        key = id(node)
        if key not in self._made:
            made = object.__new__(type(node))
            self._made[key] = made
            vars(made).update(
                {n: self._value(node, n, value) for n, value in [*vars(node).items()]}
            )
            vars(made)["_BaseNode__initialized"] = False
            self._made[key] = self._around(node, made)
        return self._made[key]

    def _value(self, node: Any, name: str, value: Any) -> Any:
        if is_node(value):
            return self.of(value)
        if name == MADE_BY_RESET or isinstance(value, Iterator):
            was_given = is_known(node) and name != MADE_BY_RESET
            return value if was_given else None  # The reset of the copy makes another one.
        if any(map(is_node, few_in(value))):
            return trees.map_leaves(value, lambda v: self.of(v) if is_node(v) else v)
        return value if is_known(node) else own_value(node, value)


def own_value(node: Any, value: Any) -> Any:
    """For a copy of `node`, which may change its `value` in place: a container, a random generator
    or an array of its own; other objects are shared. Raises CannotCopy."""
    if isinstance(value, _SYNCHRONISED) or gives_once(value):
        raise CannotCopy(f"{type(node).__name__} has threads or queues of its own")
    if draws(value):
        torch = sys.modules.get("torch")
        is_torchs = torch is not None and isinstance(value, torch.Generator)
        return value.clone_state() if is_torchs else copy.deepcopy(value)
    if trees.is_data(value):
        return trees.clone(value) if tree_sizes.nbytes(value) <= _SMALL_BYTES else value
    return _apart(value)


def _apart(value: Any) -> Any:
    """A container of its own, and those in it, where they are few, such as buckets by length."""
    if not isinstance(value, CONTAINERS):
        return value
    made: Any = copy.copy(value)
    if isinstance(value, dict) and few_in(value):
        made.update({key: _apart(item) for key, item in value.items()})
    elif isinstance(value, (list, deque)) and len(value) <= _LOOKED_AT:
        for place, item in enumerate(value):
            made[place] = _apart(item)
    return made
