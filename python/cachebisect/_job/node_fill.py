"""Items of a torchdata.nodes pipeline, kept at each boundary while one pass goes through it.

The nodes' own threads note items; the training thread does all else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from .._chain import pinning, tree_sizes, trees
from .._chain.node_chain import gives_one_for_one
from .._chain.node_epoch import Between

_COMPARED = 32
"""Items of a fill that are looked at again, to see whether a later node has written into them.
Fewer, where these would hold more than the following."""
_COMPARED_BYTES = 64e6
_COMPARED_LEAVES = 256
"""Each tensor that a process has sent is an open file."""


class Kept:
    """What one fill has kept at a boundary. `by_batch[j]`: items in the first j + 1 batches."""

    def __init__(self, items: list[Any], by_batch: list[int]) -> None:
        self.items = items
        self.by_batch = by_batch


class Record:
    """The items that the members of `group` give. Numbers count from the first item ever."""

    def __init__(self, group: Sequence[Any], before: Optional[Record], is_last: bool) -> None:
        self.is_one_for_one = all(map(gives_one_for_one, group))
        self.is_written = False
        """A node behind has changed an item in place."""
        self.count = 0
        """Items that have passed."""
        self._before = before
        self._keeps = not is_last
        self._items: list[Any] = []
        self._taken: list[int] = []
        """For each item, how many the group had taken by then."""
        self._first = 0
        """Number of the first item that is kept."""
        self._taken_before = 0
        """What the group had taken for the items before that one."""
        self._originals: list[tuple[int, Any]] = []

    def note(self, item: Any) -> None:
        """`item` passes."""
        if self._keeps:
            if self._may_compare(item):
                self._originals.append((self.count, item))
            self._items.append(kept_like(item))
        if not self.is_one_for_one:
            self._taken.append(self._before.count if self._before is not None else 0)
        self.count += 1

    def _may_compare(self, item: Any) -> bool:
        held = len(self._originals)
        if held == 0 or held >= _COMPARED:
            return held == 0
        leaves = held * sum(1 for _ in trees.leaves(item))
        return leaves <= _COMPARED_LEAVES and held * tree_sizes.nbytes(item) <= _COMPARED_BYTES

    def taken_by(self, items: int) -> int:
        """Items that the group has taken for its first so many."""
        if self.is_one_for_one:
            return items
        at = items - 1 - self._first
        return self._taken[at] if at >= 0 else self._taken_before

    def cut(self, numbers: list[int]) -> Kept:
        """Takes what belongs to the batches of a fill; `numbers`: items up to the end of each."""
        upto = numbers[-1]
        items = self._items[: upto - self._first]
        for number, original in self._originals:
            at = number - self._first
            if 0 <= at < len(items) and trees.digest(original) != trees.digest(items[at]):
                self.is_written = True
        kept = Kept(items, [number - self._first for number in numbers])
        self.drop_until(upto)
        return kept

    def forget_after(self, number: int) -> None:
        """An epoch has ended: the items from this one on became no batch."""
        del self._items[max(0, number - self._first) :]
        del self._taken[max(0, number - self._first) :]
        self._originals = [(n, item) for n, item in self._originals if n < number]
        self.count = number

    def drop_until(self, number: int) -> None:
        """Lets go of the items before this one."""
        self._taken_before = self.taken_by(number)
        count = number - self._first
        self._first = number
        del self._items[:count]
        del self._taken[:count]
        self._originals = [(n, item) for n, item in self._originals if n >= number]


class Tapped(Between):
    """Notes each item of a node."""

    def __init__(self, node: Any, record: Record) -> None:
        super().__init__(node)
        self._record = record

    def __next__(self) -> Any:
        item = next(self.node)
        self._record.note(item)
        return item


class Records:
    """Those of all stages of a pipeline. `groups`: the members of each stage."""

    def __init__(self, groups: Sequence[Sequence[Any]]) -> None:
        self._all: list[Record] = []
        for number, group in enumerate(groups, start=1):
            before = self._all[-1] if self._all else None
            self._all.append(Record(group, before, number == len(groups)))
        self._of = {id(group[-1]): record for group, record in zip(groups, self._all)}
        self._begun = 0
        """Batches before this fill."""

    def around(self, node: Any, copied: Any) -> Any:
        """What stands for a copied node while caches are filled."""
        record = self._of.get(id(node))
        return copied if record is None else Tapped(copied, record)

    def written(self) -> list[bool]:
        """For each boundary within: a node behind it writes into its items."""
        return [record.is_written for record in self._all[:-1]]

    def begin(self) -> None:
        """A fill begins with the next batch."""
        self._begun = self._all[-1].count
        for record, number in zip(self._all, self._numbers(self._begun)):
            record.drop_until(number)

    def cut(self) -> list[Kept]:
        """What the batches since begin() were made of, at each boundary within."""
        batches = range(self._begun + 1, self._all[-1].count + 1)
        numbers = [self._numbers(batch) for batch in batches]
        each = list(zip(*numbers))
        found = [record.cut(list(upto)) for record, upto in zip(self._all, each)]
        return found[:-1]

    def end_epoch(self) -> None:
        """The last item of an epoch has passed, and its threads have ended."""
        for record, number in zip(self._all, self._numbers(self._all[-1].count)):
            record.forget_after(number)

    def _numbers(self, batch: int) -> list[int]:
        """For each stage, how many of its items went into the batches up to this one."""
        numbers = [batch]
        for record in reversed(self._all[1:]):
            numbers.append(record.taken_by(numbers[-1]))
        return numbers[::-1]


def kept_like(item: Any) -> Any:
    """A copy of `item` in memory of the same kind."""
    kept = trees.clone(item)
    is_pinned = pinning.has_accelerator() and any(
        trees.is_tensor(leaf) and leaf.is_pinned() for leaf in trees.leaves(item)
    )
    return pinning.pin(kept) if is_pinned else kept


def can_be_served(items: Sequence[Any]) -> bool:
    """True if copies of `items` hold what they hold: no open file, stream or iterator."""
    return all(_can_be_copied(leaf) for item in items for leaf in trees.leaves(item))


def _can_be_copied(leaf: Any) -> bool:
    if isinstance(leaf, trees.PLAIN) or trees.is_data(leaf):
        return True
    if isinstance(leaf, Iterator):
        return False
    try:
        copy.deepcopy(leaf)
    except Exception:  # What deepcopy meets there.
        return False
    return True
