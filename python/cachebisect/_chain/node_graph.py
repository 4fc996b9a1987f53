"""A pipeline of torchdata.nodes: its members, and copies of it that run next to it.

A copy shares what the nodes were made with, such as data sets and functions, and no iterator.
torchdata is never imported here. Not thread safe.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any, Optional

from .node_copy import (
    CONTAINERS,
    MADE_BY_RESET,
    OWN_MODULE,
    Around,
    CannotCopy,
    Copying,
    is_known,
    is_node,
    refuse_shared,
)
from .node_epoch import PATIENCE_SECONDS, NodeEpoch, few_in, rest
from .sharing import cannot_begin_twice, draws, ingredients

_GIVEN = ("iterable", "sampler", "epoch_updater", "map_fn")
"""Attributes of torchdata's nodes that hold what is the user's."""
_TORCHS = ("torch.utils.data", OWN_MODULE)


def graph_of(opened: Any) -> Optional[NodeGraph]:
    """`opened`: a torchdata.nodes.Loader, or an iterator of one. None for anything else, also for a
    subclass, whose iterator may differ. Never raises."""
    module = sys.modules.get("torchdata.nodes.loader")
    loader_type, iterator_type = (getattr(module, n, None) for n in ("Loader", "LoaderIterator"))
    if loader_type is None or iterator_type is None:
        return None
    loader = getattr(opened, "loader", None) if type(opened) is iterator_type else opened
    root = getattr(loader, "root", None) if type(loader) is loader_type else None
    return NodeGraph(root) if is_node(root) else None


class NodeGraph:
    """The nodes up to `root`. Iterating it runs a copy of them, a new one each time."""

    name = "Loader"
    num_workers = 0

    def __init__(self, root: Any) -> None:
        self.root = root
        self.members = list(reversed(_members_from(root)))
        """From the source to `root`."""

    def __iter__(self) -> Iterator[Any]:
        return NodeEpoch(self.copied())

    def copied(self, around: Around = lambda _node, copied: copied) -> Any:
        """The root of a copy that has not begun. Raises CannotCopy."""
        return Copying(around).of(self.root)

    @property
    def has_several_sources(self) -> bool:
        """True if the first member takes items from several nodes: it counts as their source."""
        return len(_held_nodes(self.members[0])) > 1

    @functools.cached_property
    def why_not(self) -> str:
        """Why no copy can run next to it, in words; empty: one can. Best seen once it has given
        batches. Calls nothing of the nodes."""
        try:
            for node in _nodes_from(self.root):
                refuse_shared(node)
            self.copied()
        except CannotCopy as error:
            return str(error)
        except Exception as error:  # Of a class that is made in a way of its own.
            return f"a copy of them fails: {type(error).__name__}: {error}"
        for source in self.sources():
            if _keeps_position(source):
                return f"{type(source).__name__} keeps its position itself"
        if cannot_begin_twice(None, self.sources()):
            return "it reads from something that gives each item once"
        return ""

    def rest(self) -> None:
        """Waits until its own threads wait, so that what they share with copies stands still."""
        rest(self.root, PATIENCE_SECONDS, until_full=True)

    def sources(self) -> list[Any]:
        """What the nodes were made with, which a copy shares: data sets, samplers, functions."""
        found = [value for node in _nodes_from(self.root) for value in _shared_of(node)]
        parts = [part for value in found for part in _parts_of(value)]
        return list({id(part): part for part in parts}.values())

    def ingredients(self) -> list[Any]:
        """The same, and the attributes of these."""
        return list(ingredients(None, self.sources()))


def source_of(node: Any) -> Optional[Any]:
    """The only node that `node` takes its items from; None if there is none, or there are
    several."""
    named = vars(node).get("source")
    if not is_node(named):
        held = _held_nodes(node)
        return held[0] if len(held) == 1 else None
    if is_known(node) and getattr(node, "prebatch", None) is not None:
        return named.source  # Between them is a Batcher that the mapper has made for itself.
    return named


def _members_from(node: Any) -> list[Any]:
    found: list[Any] = []
    following: Optional[Any] = node
    while following is not None and all(following is not known for known in found):
        found.append(following)
        following = source_of(following)
    return found


def _held_nodes(node: Any) -> list[Any]:
    """Those in attributes, and in dicts and lists there."""
    values = [value for name, value in vars(node).items() if name != MADE_BY_RESET]
    found = [item for value in values for item in (value, *few_in(value)) if is_node(item)]
    return list({id(item): item for item in found}.values())


def _nodes_from(node: Any) -> list[Any]:
    found, waiting = {}, [node]
    while waiting:
        following = waiting.pop()
        if id(following) not in found:
            found[id(following)] = following
            waiting += _held_nodes(following)
    return list(found.values())


def _shared_of(node: Any) -> list[Any]:
    """Attributes whose objects a copy shares."""
    given = vars(node)
    if is_known(node):
        return [given[name] for name in _GIVEN if name in given and not _is_long(given[name])]
    copied = (*CONTAINERS, Iterator)
    shared = [value for name, value in given.items() if name != MADE_BY_RESET]
    return [v for v in shared if not is_node(v) and not isinstance(v, copied) and not draws(v)]


def _is_long(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and not few_in(value)


def _parts_of(value: Any) -> list[Any]:
    """What a function works on: of a bound method its object, of a partial what it was given."""
    if isinstance(value, functools.partial):
        given = [value.func, *value.args, *value.keywords.values()]
        return [part for each in given for part in _parts_of(each)]
    owner = getattr(value, "__self__", None)
    if owner is not None and callable(value):
        return [owner]
    inner = vars(value).get("map_fn") if type(value).__module__.startswith(OWN_MODULE) else None
    return [value] if inner is None else _parts_of(inner)


def _keeps_position(value: Any) -> bool:
    """True for an object with a position of its own, which a second iterator would move."""
    methods = ("state_dict", "load_state_dict")
    has_state = all(callable(getattr(type(value), name, None)) for name in methods)
    torch = sys.modules.get("torch")
    if not has_state or torch is None or isinstance(value, torch.nn.Module):
        return has_state and torch is None
    is_torchs = type(value).__module__.startswith(_TORCHS)  # Their position is an attribute.
    return not (is_torchs and isinstance(value, torch.utils.data.Sampler))
