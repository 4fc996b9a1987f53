"""Batches without the tensors that no step reads: the live arm `unused`.

The worker leaves them out before it sends the batch. The training process puts memory of the same
shape in their place, so that the step's own code runs as it is. Not thread safe.
"""

from __future__ import annotations

import copy
import mmap
from collections.abc import Collection, Mapping
from math import prod
from typing import Any, Callable

from .._chain import trees
from .._chain.use_watch import LEAST_BYTES, touched

BATCH = "batch"
"""What the names of tensors begin with."""


class Gone:
    """Stands in place of a tensor that was left out."""

    def __init__(self, dtype: Any, dims: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.dims = dims


class WithoutUnused:
    """`collate_fn`, whose batches have a Gone in place of each tensor of `names`, as
    named_tensors() has them: "batch['depth']".

    Torch's own function then never gets them: they are left out of the samples. Raises ValueError
    for a batch of a type that cannot be written to; what `collate_fn` raises.
    """

    def __init__(self, collate_fn: Callable[[Any], Any], names: Collection[str]) -> None:
        self._collate_fn = collate_fn
        self._names = frozenset(names)

    def __call__(self, samples: Any) -> Any:
        if collates_each_part(self._collate_fn):
            if type(samples) is list and all(type(sample) is dict for sample in samples):
                return self._of_dicts(samples)
            if type(samples) is list and all(type(sample) is tuple for sample in samples):
                return self._of_tuples(samples)
        return self._without(self._collate_fn(samples), BATCH)

    def _of_dicts(self, samples: list[dict[Any, Any]]) -> Any:
        gone = self._gone(samples[0], len(samples))
        kept = [
            {key: value for key, value in sample.items() if key not in gone} for sample in samples
        ]
        made = self._without(self._collate_fn(kept), BATCH)
        return {key: gone[key] if key in gone else made[key] for key in samples[0]}

    def _of_tuples(self, samples: list[tuple[Any, ...]]) -> Any:
        gone = self._gone(dict(enumerate(samples[0])), len(samples))
        places = range(len(samples[0]))
        names = [f"{BATCH}[{place}]" for place in places if place not in gone]
        made = self._collate_fn(
            [tuple(item for place, item in enumerate(s) if place not in gone) for s in samples]
        )
        rest = iter([self._without(item, name) for item, name in zip(made, names)])
        return [gone[place] if place in gone else next(rest) for place in places]

    def _gone(self, parts: Mapping[Any, Any], count: int) -> dict[Any, Gone]:
        """What is left out, by the `parts` of the first of so many samples."""
        found = {}
        for key, value in parts.items():
            if f"{BATCH}[{key!r}]" in self._names:
                tensor = value if trees.is_tensor(value) else self._collate_fn([value])[0]
                found[key] = Gone(tensor.dtype, (count, *tensor.shape))
        return found

    def _without(self, tree: Any, name: str) -> Any:
        if name in self._names and trees.is_tensor(tree):
            return Gone(tree.dtype, tuple(tree.shape))
        if not any(each.startswith(f"{name}[") for each in self._names):
            return tree
        if isinstance(tree, Mapping):
            changed = {key: self._without(tree[key], f"{name}[{key!r}]") for key in tree}
            return changed if type(tree) is dict else _written(tree, changed)
        if isinstance(tree, (list, tuple)):
            items = [self._without(item, f"{name}[{place}]") for place, item in enumerate(tree)]
            return items if type(tree) is list else _tuple_like(tree, items)
        return tree


def collates_each_part(collate_fn: Any) -> bool:
    """True for torch's own function: the parts of a sample do not meet in it."""
    from torch.utils.data import default_collate

    return bool(collate_fn is default_collate)


def _written(tree: Any, changed: dict[Any, Any]) -> Any:
    try:
        rebuilt = copy.copy(tree)
        for key, value in changed.items():
            rebuilt[key] = value
    except Exception as error:
        raise ValueError(f"nothing can be left out of a {type(tree).__name__}") from error
    return rebuilt


def _tuple_like(tree: Any, items: list[Any]) -> Any:
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


class StandIns:
    """Memory for what was left out. One batch at a time has it."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, tuple[int, ...]], Any] = {}

    def put_into(self, batch: Any) -> Any:
        """`batch` with zeros in place of each Gone."""
        return trees.map_leaves(batch, lambda leaf: self._of(leaf) if _is_gone(leaf) else leaf)

    def were_read(self) -> bool:
        """True if a step has read or written what it was said never to read. Small ones do not
        tell, nor does a system that shows no pages. Forgets it."""
        made = [zeros.untyped_storage() for zeros in self._made.values()]
        self._made.clear()
        try:
            return any(touched(each) > 0 for each in made if each.nbytes() >= LEAST_BYTES)
        except OSError:
            return False

    def _of(self, gone: Gone) -> Any:
        key = gone.dtype, gone.dims
        if key not in self._made:
            self._made[key] = _untouched_zeros(gone)
        return self._made[key]


def _is_gone(leaf: Any) -> bool:
    return isinstance(leaf, Gone)


def _untouched_zeros(gone: Gone) -> Any:
    """None of its pages is in memory yet."""
    import torch

    size = prod(gone.dims) * torch.empty(0, dtype=gone.dtype).element_size()
    if size == 0:
        return torch.empty(gone.dims, dtype=gone.dtype)
    return torch.frombuffer(mmap.mmap(-1, size), dtype=gone.dtype).reshape(gone.dims)
