"""What stands between the datasets of Grain, or in their places.

Importing this imports grain: only where the program has done so. Threads of Grain ask datasets for
items at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

import grain

from .._chain.gate import Gate
from .node_feed import Cycle, taken_for

State = Optional[dict[str, Any]]


class GateClosed(Exception):
    """No item is made any more."""


def _pass(gate: Gate) -> None:
    if not gate.lets_in():
        raise GateClosed


class _Map(grain.MapDataset):  # type: ignore[misc]
    """Gives items in place of `dataset`, or of one like it."""

    def __init__(self, dataset: Any, parents: Sequence[Any]) -> None:
        super().__init__(parents)
        self._length = len(dataset)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return self.slice(index) if isinstance(index, slice) else self.item(int(index))

    def item(self, index: int) -> Any:
        raise NotImplementedError


class GatedMap(_Map):
    """The items of `dataset` while the gate is open."""

    def __init__(self, dataset: Any, gate: Gate) -> None:
        super().__init__(dataset, (dataset,))
        self._dataset = dataset
        self._gate = gate

    def item(self, index: int) -> Any:
        _pass(self._gate)
        return self._dataset[index]

    def _getitems(self, indices: Sequence[int]) -> Any:
        _pass(self._gate)
        return self._dataset._getitems(indices)


class TappedMap(_Map):
    """Shows each item of `dataset` to `tap`."""

    def __init__(self, dataset: Any, tap: Callable[[Any], Any]) -> None:
        super().__init__(dataset, (dataset,))
        self._dataset = dataset
        self._tap = tap

    def item(self, index: int) -> Any:
        return self._tap(self._dataset[index])

    def _getitems(self, indices: Sequence[int]) -> Any:
        return list(map(self._tap, self._dataset._getitems(indices)))


class ReplayedMap(_Map):
    """The items of `cycle`, in place of `dataset`."""

    def __init__(self, dataset: Any, cycle: Cycle, gate: Gate) -> None:
        super().__init__(dataset, ())
        self._cycle = cycle
        self._gate = gate

    def item(self, index: int) -> Any:
        _pass(self._gate)
        return self._cycle.at(index)


class BypassedMap(_Map):
    """The items of `cycle`, in place of `dataset`. For each it takes what that would take of
    `before`, the dataset in front of it: `share` items."""

    def __init__(self, dataset: Any, cycle: Cycle, before: Any, share: float) -> None:
        super().__init__(dataset, (before,))
        self._cycle = cycle
        self._before = before
        self._share = share

    def item(self, index: int) -> Any:
        for taken in taken_for(index, self._share):
            self._before[taken]
        return self._cycle.at(index)


class _Iter(grain.IterDataset):  # type: ignore[misc]
    """Base of what stands between other datasets. `opens`: makes its iterator, from those of its
    parents."""

    def __init__(self, parents: Sequence[Any], opens: Callable[..., Any]) -> None:
        super().__init__(parents)
        self.has_child = True
        self._opens = opens

    def __iter__(self) -> Any:
        return self._opens(*(parent.__iter__() for parent in self._parents))


class Passing(_Iter):
    """The items of `dataset`: a stage of its own."""

    def __init__(self, dataset: Any) -> None:
        super().__init__([dataset], lambda parent: parent)


class _Iterator(grain.DatasetIterator):  # type: ignore[misc]
    def get_state(self) -> State:
        return self._parents[0].get_state() if self._parents else {}

    def set_state(self, state: State) -> None:
        if self._parents:
            self._parents[0].set_state(state)


class _Gated(_Iterator):
    def __init__(self, gate: Gate, parent: Any) -> None:
        super().__init__(parent)
        self._gate = gate

    def __next__(self) -> Any:
        _pass(self._gate)
        return next(self._parents[0])


class _Tapped(_Iterator):
    def __init__(self, tap: Callable[[Any], Any], parent: Any) -> None:
        super().__init__(parent)
        self._tap = tap

    def __next__(self) -> Any:
        return self._tap(next(self._parents[0]))


class _Replayed(_Iterator):
    def __init__(self, cycle: Cycle, gate: Gate) -> None:
        super().__init__()
        self._cycle = cycle
        self._gate = gate

    def __next__(self) -> Any:
        _pass(self._gate)
        return self._cycle.next()


class _Made(_Iterator):
    def __init__(self, next_item: Callable[[], Any], gate: Gate) -> None:
        super().__init__()
        self._next_item = next_item
        self._gate = gate

    def __next__(self) -> Any:
        _pass(self._gate)
        return self._next_item()


class _Bypassed(_Iterator):
    def __init__(self, cycle: Cycle, share: float, before: Any) -> None:
        super().__init__(before)
        self._cycle = cycle
        self._share = share
        self._given = 0

    def __next__(self) -> Any:
        for _ in taken_for(self._given, self._share):
            next(self._parents[0])
        self._given += 1
        return self._cycle.next()


def _is_map(dataset: Any) -> bool:
    return isinstance(dataset, grain.MapDataset)


def gated(dataset: Any, gate: Gate) -> Any:
    """The items of `dataset` while the gate is open."""
    if _is_map(dataset):
        return GatedMap(dataset, gate)
    return _Iter([dataset], lambda parent: _Gated(gate, parent))


def tapped(dataset: Any, tap: Callable[[Any], Any]) -> Any:
    """Each item of `dataset`, which `tap` is shown."""
    if _is_map(dataset):
        return TappedMap(dataset, tap)
    return _Iter([dataset], lambda parent: _Tapped(tap, parent))


def replayed(dataset: Any, cycle: Cycle, gate: Gate) -> Any:
    """The items of `cycle` in place of those of `dataset`, while the gate is open."""
    if _is_map(dataset):
        return ReplayedMap(dataset, cycle, gate)
    return _Iter([], lambda: _Replayed(cycle, gate))


def bypassed(dataset: Any, cycle: Cycle, before: Any, share: float) -> Any:
    """The same; for each item, `share` items of `before` are taken."""
    if _is_map(dataset):
        return BypassedMap(dataset, cycle, before, share)
    return _Iter([before], lambda parent: _Bypassed(cycle, share, parent))


def made_by(next_item: Callable[[], Any], gate: Gate) -> Any:
    """The items that `next_item` gives, while the gate is open."""
    return _Iter([], lambda: _Made(next_item, gate))
