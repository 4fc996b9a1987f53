"""What a cache is of: it is refused for another dataset, other stages or other code.

Files that a dataset reads are not opened: a few samples are made anew and compared instead, where a
cache is used again. Thread safe: no state.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import json
import re
from typing import Any, Callable

from .._chain import trees
from .._chain.slots import Slot, attributes, datasets_within
from .._version import __version__

_LIBRARIES = ("torch", "torchvision", "Pillow", "numpy", "opencv-python", "albumentations")
"""As they are installed: whether one is imported by now depends on the rest of the program."""
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_SHOWN = 64
"""Items of a long list that count, from each end; of arrays as many elements."""
_DEPTH = 4
_DATASET = ""


def identity(dataset: Any, slots: list[Slot], version: str, make_sample: Callable[[], Any]) -> str:
    """A JSON object of what the cache is of. `slots`: the cached stages.

    What changes when a sample is made, such as a counter, does not count. Raises what the dataset
    raises.
    """
    before = _parts(dataset, slots)
    make_sample()
    after = _parts(dataset, slots)
    steady = {name: _digest(_steady(before[name], after[name])) for name in before}
    held = {
        "cachebisect": __version__,
        "version": version,
        "libraries": {name: _version_of(name) for name in _LIBRARIES},
        "dataset": steady.pop(_DATASET),
        "stages": steady,
    }
    return json.dumps(held, sort_keys=True)


def _parts(dataset: Any, slots: list[Slot]) -> dict[str, Any]:
    found = {slot.name: _described(slot.get(), _DEPTH) for slot in slots}
    return {_DATASET: [_dataset(each) for each in datasets_within(dataset)], **found}


def _steady(before: Any, after: Any) -> Any:
    """`before` without what differs from `after`."""
    both = (before, after)
    if all(isinstance(each, (list, tuple)) for each in both) and len(before) == len(after):
        return [_steady(*pair) for pair in zip(*both)]
    return before if before == after else "changes"


def difference(found: str, wanted: str) -> str:
    """In words, how two identities that are not equal differ."""
    try:
        before, now = json.loads(found), json.loads(wanted)
        parts = [name for name in now if before.get(name) != now[name]]
        if "stages" in parts:
            stages = now["stages"]
            changed = [s for s in stages if before["stages"].get(s) != stages[s]]
            return f"of other stages ({', '.join(changed or before['stages'])})"
        words = {"dataset": "another dataset, or other code of it", "version": "another version"}
        return "of " + " and ".join(words.get(part, f"other {part}") for part in parts)
    except (ValueError, AttributeError, KeyError):
        return "no cache of this program"


def _version_of(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _digest(description: Any) -> str:
    return hashlib.sha256(repr(description).encode()).hexdigest()[:16]


def _dataset(dataset: Any) -> Any:
    """Its class, its length and its data; what it calls is told by the stages."""
    try:
        length = len(dataset)
    except Exception:
        length = -1
    held = [
        (name, _described(value, 2)) for name, value in attributes(dataset) if not callable(value)
    ]
    return _name(type(dataset)), _source(type(dataset)), length, held


def _described(value: Any, depth: int) -> Any:
    """Something whose repr is that of another process for an equal value."""
    if isinstance(value, trees.PLAIN):
        return value
    if isinstance(value, functools.partial):
        return [_described(part, depth) for part in (value.func, value.args, value.keywords)]
    if trees.is_data(value):
        return trees.describe(value), trees.digest(_few(value))
    if isinstance(value, (list, tuple)):
        few = value if len(value) <= 2 * _SHOWN else [*value[:_SHOWN], *value[-_SHOWN:]]
        return len(value), [_described(item, depth - 1) for item in few] if depth > 0 else ()
    if isinstance(value, dict):
        return _described(sorted(value.items(), key=repr), depth)
    if inspect.isroutine(value) or isinstance(value, type):
        return _name(value), _source(value)
    held = attributes(value) if depth > 0 else []
    parts = [(name, _described(part, depth - 1)) for name, part in held]
    return _name(type(value)), _source(type(value)), parts or _plain_repr(value)


def _few(value: Any) -> Any:
    """Some elements of an array or tensor, spread over it; an image as it is."""
    if trees.is_image(value):
        return value
    flat = value.reshape(-1)
    return flat[:: max(1, len(flat) // (2 * _SHOWN))]


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"


def _source(value: Any) -> str:
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):  # Written in C, or typed into a prompt.
        return ""


def _plain_repr(value: Any) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:
        return ""
