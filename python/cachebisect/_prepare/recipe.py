"""An Entry as members of a tar archive, and the recipe by which they are put together again.

The recipe holds what the samples of a dataset have in common: the calls of later stages and the
structure of the sample. Thread safe: no state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

from .._cache.encoding import decoded, encoded
from .._cache.entry import Entry, LiveCall
from .._worker.tape import Ref
from .members import Kind, is_json, loaded, stored

_MOST_LEAVES = 16
"""Of a structure without outputs; a larger one is one member."""
_PATH = 60
"""Characters of a name in the archive."""


class Member(NamedTuple):
    """`name`: behind the key of the sample and a dot, such as "cls" or "image.npy"."""

    name: str
    kind: Kind
    data: bytes


@dataclass
class Leaf:
    """Stands for the value of a member."""

    name: str


@dataclass
class Recipe:
    """`skeleton`: an Entry, in which a Leaf stands for each member."""

    skeleton: Entry
    kinds: dict[str, Kind]
    """By the names of the members."""

    def entry(self, members: dict[str, memoryview]) -> Entry:
        """The Entry that split() took apart. Raises for other members."""
        leaves = {name: loaded(kind, members[name]) for name, kind in self.kinds.items()}
        return _filled(self.skeleton, leaves)


def split(entry: Entry) -> tuple[Recipe, list[Member]]:
    """Raises what pickling raises, for values that cannot be stored."""
    values, others = _Leaves(), _Leaves()
    are_several = len(entry.outputs) > 1
    outputs = {
        number: _cut(output, f"value{place}" if are_several else "", values)
        for place, (number, output) in enumerate(entry.outputs.items())
    }
    template = _cut(entry.template, "", others)
    calls = []
    for call in entry.calls:
        # What is None or a bool in a call is no part of a sample, but a setting.
        args = tuple(_argument(item, f"call{call.number}-{i}", others)
                     for i, item in enumerate(call.args))  # fmt: skip
        kwargs = {key: _argument(item, f"call{call.number}-{key}", others)
                  for key, item in call.kwargs.items()}  # fmt: skip
        calls.append(LiveCall(call.number, call.stage, call.owner, args, kwargs))
    members = _named(values, others)
    kinds = {member.name: member.kind for member in members}
    return Recipe(Entry(outputs, calls, template, entry.later), kinds), members


def to_bytes(recipe: Recipe, shared: list[Any]) -> bytes:
    """`shared`: objects that are named by their position. Raises what pickling raises."""
    return encoded((recipe.skeleton, list(recipe.kinds.items())), shared)


def from_bytes(data: bytes, shared: list[Any]) -> Recipe:
    """Raises what unpickling raises."""
    skeleton, kinds = decoded(data, shared)
    return Recipe(skeleton, dict(kinds))


class _Leaves:
    """Values that become members, each once. They are named when all are known."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Any, Leaf]] = []
        self._known: dict[int, Leaf] = {}

    def leaf(self, value: Any, path: str) -> Leaf:
        known = self._known.get(id(value))
        if known is not None:
            return known
        leaf = Leaf("")
        self.found.append((path, value, leaf))
        if type(value) not in (int, float, str, bytes):
            self._known[id(value)] = leaf  # Two places that hold one object.
        return leaf


def _argument(value: Any, path: str, leaves: _Leaves) -> Any:
    return value if type(value) is bool else _cut(value, path, leaves)


def _cut(value: Any, path: str, leaves: _Leaves) -> Any:
    """`value` with a Leaf in place of all that differs from sample to sample."""
    if value is None or isinstance(value, Ref):
        return value
    if type(value) not in (tuple, list, dict):
        return leaves.leaf(value, path)
    items = list(value.items()) if type(value) is dict else list(enumerate(value))
    if not items:
        return value
    if not _holds_output(value) and (is_json(value) or _count(value) > _MOST_LEAVES):
        return leaves.leaf(value, path)
    cut = {key: _cut(item, f"{path}-{key}" if path else str(key), leaves) for key, item in items}
    return cut if type(value) is dict else type(value)(cut.values())


def _holds_output(value: Any) -> bool:
    if type(value) in (tuple, list):
        return any(_holds_output(item) for item in value)
    if type(value) is dict:
        return any(_holds_output(item) for item in value.values())
    return isinstance(value, Ref)


def _count(value: Any) -> int:
    if type(value) in (tuple, list):
        return sum(_count(item) for item in value)
    return sum(_count(item) for item in value.values()) if type(value) is dict else 1


def _named(values: _Leaves, others: _Leaves) -> list[Member]:
    """The single value at the boundary, and the single other part of a sample, have the name of
    their format alone: "npy", "cls"."""
    alone = [len(leaves.found) == 1 for leaves in (values, others)]
    taken: set[str] = set()
    members = []
    for leaves, is_alone in zip((values, others), alone):
        for path, value, leaf in leaves.found:
            kind, data = stored(value)
            short = is_alone and kind.extension not in taken
            leaf.name = _free_name("" if short else path, kind.extension, taken)
            taken.add(leaf.name)
            members.append(Member(leaf.name, kind, data))
    return members


def _free_name(path: str, extension: str, taken: set[str]) -> str:
    """WebDataset writes names in small letters, and splits at dots."""
    words = re.sub(r"[^a-z0-9_-]+", "_", path.lower())[:_PATH]
    name = f"{words}.{extension}" if words else extension
    number = 2
    while name in taken:
        name = f"{words or 'other'}_{number}.{extension}"
        number += 1
    return name


def _filled(skeleton: Entry, leaves: dict[str, Any]) -> Entry:
    fill: Callable[[Any], Any] = lambda value: _with_leaves(value, leaves)
    calls = [
        LiveCall(call.number, call.stage, call.owner, fill(call.args), fill(call.kwargs))
        for call in skeleton.calls
    ]
    return Entry(fill(skeleton.outputs), calls, fill(skeleton.template), skeleton.later)


def _with_leaves(value: Any, leaves: dict[str, Any]) -> Any:
    if type(value) is Leaf:
        return leaves[value.name]
    if type(value) is tuple:
        return tuple([_with_leaves(item, leaves) for item in value])
    if type(value) is list:
        return [_with_leaves(item, leaves) for item in value]
    if type(value) is dict:
        return {key: _with_leaves(item, leaves) for key, item in value.items()}
    return value
