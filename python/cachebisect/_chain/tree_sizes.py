"""How much memory nested batches hold. No batch makes a function here raise. Thread safe."""

from __future__ import annotations

import sys
from typing import Any

from . import trees


def _leaf_bytes(leaf: Any) -> int:
    if trees.is_tensor(leaf):
        return _tensor_bytes(leaf)
    if trees.is_array(leaf):
        return int(leaf.nbytes)
    if trees.is_image(leaf):
        return int(leaf.width * leaf.height * len(leaf.getbands()))
    if isinstance(leaf, (str, bytes)):
        return len(leaf)
    return _object_bytes(leaf)


_OBJECT_DEPTH = 4
_MAX_OBJECTS = 2000
"""Beyond these an object is part of something larger, such as a data set that it refers to."""


def _object_bytes(value: Any) -> int:
    """Bytes of an object and of the data that its attributes hold, such as a graph's tensors."""
    size, seen, waiting = 0, {id(value)}, [(value, _OBJECT_DEPTH)]
    while waiting:
        owner, depth = waiting.pop()
        try:
            size += sys.getsizeof(owner, 64)
            attributes = getattr(owner, "__dict__", None)
        except Exception:  # It tells nothing of itself.
            size += 64
            continue
        if depth == 0 or type(attributes) is not dict or isinstance(owner, type):
            continue
        for leaf in trees.leaves(attributes):
            if len(seen) >= _MAX_OBJECTS:
                return size
            if id(leaf) in seen or isinstance(leaf, trees.PLAIN):
                continue
            seen.add(id(leaf))
            if trees.is_data(leaf):
                size += _leaf_bytes(leaf)
            else:
                waiting.append((leaf, depth - 1))
    return size


def _tensor_bytes(tensor: Any) -> int:
    try:
        if tensor.is_sparse:
            parts = [tensor._indices(), tensor._values()]
        elif not trees.is_dense(tensor):
            parts = [part() for name in _PARTS if callable(part := getattr(tensor, name, None))]
        else:
            parts = [tensor]
        return sum(int(part.numel() * part.element_size()) for part in parts)
    except Exception:  # A layout without these parts.
        return int(tensor.numel() * tensor.element_size())


_PARTS = ("values", "offsets")
"""Methods that give the parts of a nested tensor."""


def nbytes(tree: Any) -> int:
    """Bytes that the leaves of `tree` hold, estimated for objects of unknown types."""
    return sum(_leaf_bytes(leaf) for leaf in trees.leaves(tree))
