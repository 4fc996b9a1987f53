"""Whether a call that is made again gives what it gave. Thread safe: no state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._chain import trees


def differ(one: Any, other: Any) -> bool:
    """True if the data in two outputs differ. Objects of other types count as the same."""
    ones, others = list(_parts(one)), list(_parts(other))
    return len(ones) != len(others) or any(map(_leaves_differ, ones, others))


def _parts(tree: Any) -> Iterator[Any]:
    for leaf in trees.leaves(tree):
        if trees.is_record(leaf):
            yield from trees.leaves(vars(leaf))
        else:
            yield leaf


def _leaves_differ(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return True
    if trees.is_data(one):
        same_kind = trees.describe(one) == trees.describe(other)
        return not same_kind or trees.digest(one) != trees.digest(other)
    # What is not a number is not equal to itself.
    return isinstance(one, trees.PLAIN) and bool(one != other and one == one)
