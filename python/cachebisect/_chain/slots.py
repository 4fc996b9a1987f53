"""Finds the callables that a dataset calls for each sample, and puts others in their place.

A slot is a place that holds a callable: an attribute, an item of a list, a child of a module, or a
function of a library. Finding walks attributes and calls nothing. Not thread safe.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Callable, Optional

MAX_DEPTH = 6
MAX_SLOTS = 48
_NOT_DATA = (str, bytes, bytearray, int, float, complex, bool, type(None), dict, set, frozenset)
_CHOOSING = ("RandomApply", "RandomChoice", "RandomOrder", "OneOf", "SomeOf", "OneOrOther")


@dataclass
class Slot:
    """A place that holds a callable. `get` and `put` read and replace it."""

    name: str
    category: str
    """The category of its stage: read, decode, augment or custom."""
    get: Callable[[], Any]
    put: Callable[[Any], None]
    place: tuple[Any, ...]
    """Identifies the place: the object that holds it and the key there."""
    container: Optional[Slot] = None
    """The slot that holds the object whose child this is; None at the top."""
    bound: bool = False
    """A function of a class: its first argument is the object whose method it is."""
    steady: bool = False
    """It gives the same each time that it is called with the same."""


def callable_name(value: Any) -> str:
    """What the code calls `value`: the function's name or the object's class."""
    if isinstance(value, functools.partial):
        return callable_name(value.func)
    name = getattr(value, "__name__", None)
    if name == "<lambda>":
        return "lambda"
    # A stand-in says the class of what it stands for.
    return name if isinstance(name, str) else str(value.__class__.__name__)


def find_slots(dataset: Any) -> list[Slot]:
    """The slots of `dataset` and of the datasets inside it, the innermost dataset last.

    A container such as Compose gives one slot per member. Names are unique.
    """
    found: list[Slot] = []
    for owner in datasets_within(dataset):
        for name, value in attributes(owner):
            if name == "_format_kwargs" and isinstance(value, dict):  # Hugging Face datasets
                if callable(value.get("transform")):
                    found.append(_held_slot(value, "transform"))
            elif not _is_dataset(value):
                found.extend(slots_at(attribute_slot(owner, name), name))
    return with_unique_names(without_repeats(found))[:MAX_SLOTS]


def collapsed(slots: Iterable[Slot], unwanted: set[str]) -> list[Slot]:
    """`slots` without those named in `unwanted`; their containers stand in for them."""
    kept: list[Slot] = []
    slots = list(slots)
    containers = [s.container for s in slots if s.name in unwanted and s.container is not None]
    for slot in slots:
        if slot.container is not None and any(slot.container is c for c in containers):
            if all(slot.container is not k for k in kept):
                kept.append(slot.container)
        elif slot.name not in unwanted:
            kept.append(slot)
    return kept


def datasets_within(dataset: Any, depth: int = 0) -> list[Any]:
    """`dataset` and the datasets that its attributes hold, as Subset and ConcatDataset do."""
    found = [dataset]
    if depth == MAX_DEPTH:
        return found
    for _, value in attributes(dataset):
        members = value if isinstance(value, (list, tuple)) else [value]
        for member in list(members)[:64]:
            if _is_dataset(member) and all(member is not other for other in found):
                found.extend(datasets_within(member, depth + 1))
    return found


def attributes(owner: Any) -> list[tuple[str, Any]]:
    """Names and values of what `owner` itself holds, children of modules included."""
    own = getattr(owner, "__dict__", {})
    found = [(name, value) for name, value in own.items() if name != "_modules"]
    modules = own.get("_modules")
    if isinstance(modules, dict):
        found.extend(modules.items())
    return found


def _is_dataset(value: Any) -> bool:
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(value, torch_data.Dataset):
        return True
    if isinstance(value, (*_NOT_DATA, type, list, tuple)):
        return False
    return hasattr(type(value), "__getitem__") and type(value).__name__.endswith("Dataset")


def attribute_slot(owner: Any, name: str) -> Slot:
    """The attribute `name` that `owner` itself holds, or its child module of that name."""
    held = vars(owner)
    modules = held.get("_modules")
    if isinstance(modules, dict) and name in modules:
        held = modules
    return _held_slot(held, name)


def _held_slot(held: dict[str, Any], name: str) -> Slot:
    category = "read" if name in ("loader", "reader", "read", "load") else "augment"
    label = f"{name} {callable_name(held[name])}"

    def put(value: Any) -> None:
        held[name] = value

    return Slot(label, category, lambda: held[name], put, (id(held), name))


def method_slot(owner: type, name: str) -> Slot:
    """The method or property `name` that the class `owner` itself defines."""
    held = vars(owner)[name]
    is_property = isinstance(held, property)

    def get() -> Any:
        now = vars(owner)[name]
        return now.fget if is_property else now

    def put(value: Any) -> None:
        def call(*args: Any, **kwargs: Any) -> Any:
            return value(*args, **kwargs)

        plain = value if hasattr(type(value), "__get__") else call
        if is_property:
            plain = held if value is held.fget else held.getter(plain)
        setattr(owner, name, plain)

    label = f"{owner.__module__.split('.')[0]}.{owner.__name__}.{name}"
    return Slot(label, "read", get, put, (id(owner), name), bound=True)


def _item_slot(items: list[Any], index: int, name: str) -> Slot:
    def put(value: Any) -> None:
        items[index] = value

    return Slot(name, "augment", lambda: items[index], put, (id(items), index))


def _tuple_slot(holder: Slot, index: int, name: str) -> Slot:
    def put(value: Any) -> None:
        items = list(holder.get())
        items[index] = value
        holder.put(tuple(items))

    return Slot(name, "augment", lambda: holder.get()[index], put, (*holder.place, index))


def slots_at(slot: Slot, path: str, depth: int = 0) -> list[Slot]:
    """The leaves below `slot`: its members if it holds a container, else itself if callable."""
    value = slot.get()
    if isinstance(value, (*_NOT_DATA, type)):
        return []
    members = _members(slot, value, path) if depth < MAX_DEPTH else []
    if not members:
        return [slot] if callable(value) else []
    found: list[Slot] = []
    for member, member_path in members:
        if callable(value):
            member.container = slot
        found.extend(slots_at(member, member_path, depth + 1))
    return found


def _members(slot: Slot, value: Any, path: str) -> list[tuple[Slot, str]]:
    if isinstance(value, (list, tuple)):
        return _sequence_members(slot, value, path)
    if type(value).__name__.startswith(_CHOOSING):
        return []
    inner = getattr(value, "__dict__", {}).get("transforms")
    if isinstance(inner, (list, tuple)):
        holder = attribute_slot(value, "transforms")
        prefix = "transforms" if path in ("transform", "transforms") else f"{path}.transforms"
        return _sequence_members(holder, inner, prefix)
    if type(value).__name__ == "Sequential":
        names = list(vars(value).get("_modules", {}))
        return [_named(attribute_slot(value, n), f"{path}[{n}]") for n in names]
    if {"transform", "target_transform"} <= set(getattr(value, "__dict__", {})):
        names = [n for n in ("transform", "target_transform") if callable(vars(value)[n])]
        return [(attribute_slot(value, n), n) for n in names]
    return []


def _named(slot: Slot, path: str) -> tuple[Slot, str]:
    slot.name = f"{path} {callable_name(slot.get())}"
    return slot, path


def _sequence_members(holder: Slot, items: Any, path: str) -> list[tuple[Slot, str]]:
    if not items or not all(callable(item) and not isinstance(item, type) for item in items):
        return []
    found = []
    for index, item in enumerate(items):
        name = f"{path}[{index}] {callable_name(item)}"
        if isinstance(items, list):
            found.append((_item_slot(items, index, name), f"{path}[{index}]"))
        else:
            found.append((_tuple_slot(holder, index, name), f"{path}[{index}]"))
    return found


def without_repeats(slots: list[Slot]) -> list[Slot]:
    """One slot per place: `transforms` of a VisionDataset leads to its `transform` again."""
    return list({slot.place: slot for slot in reversed(slots)}.values())[::-1]


def with_unique_names(slots: list[Slot]) -> list[Slot]:
    """`slots`, with a number behind each name that others have too."""
    counts: dict[str, int] = {}
    for slot in slots:
        counts[slot.name] = counts.get(slot.name, 0) + 1
        if counts[slot.name] > 1:
            slot.name = f"{slot.name} ({counts[slot.name]})"
    return slots
