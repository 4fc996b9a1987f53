"""A crop that runs before stages in front of it: `transforms[3]=earlier`. Not thread safe.

Whether samples stay the same is seen on a few of them first.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Optional

from .._cache.child import in_child
from .._chain import facts
from .._chain.commuting import moved, moves
from .._chain.description import Chain
from .._chain.settings import KEEP_SAMPLES, ON_DEVICE, ORDER, READ_THREADS, value_of
from .._chain.sources import reads_whole_batches
from .._worker.reordered import ReorderedDataset, why_not_reordered
from .loaders import MeasuredLoader

_SAMPLES = 8
_ALONE = (*KEEP_SAMPLES, ON_DEVICE, READ_THREADS)
"""What also stands in the places of stages."""
_OTHER_DRAWS = (
    "random numbers are drawn in another order then: samples differ, how they are distributed does "
    "not"
)


class OtherOrders:
    """`loader`: its dataset is a map-style one, or nothing can be moved."""

    def __init__(self, loader: MeasuredLoader) -> None:
        self._loader = loader
        self._checked: dict[tuple[str, ...], str] = {}
        self.note = ""
        """What is to be said of the order that was asked for last."""

    def words(self, chain: Chain) -> tuple[str, ...]:
        """The values of the setting: what may move, by the classes of the transforms."""
        if self._loader.shadow is None:
            return ()
        own = self._loader.own
        if facts.is_iterable(own.dataset) or reads_whole_batches(own.dataset):
            return ()
        return moves(own.dataset, chain.plan)

    def of(self, arm: dict[str, Any], chain: Chain) -> Optional[Callable[[Any], Any]]:
        """What makes the dataset of a live arm of that which it stands for; None without another
        order. Raises ValueError if samples would change; what the dataset raises."""
        self.note = ""
        overrides = arm.get("overrides") or {}
        move = value_of(overrides, ORDER, None)
        if move is None:
            return None
        names = moved(chain.plan, move) if move in self.words(chain) else None
        if names is None:
            raise ValueError(f"{move}: there is no such crop")
        for other in _ALONE:
            if other in overrides:
                raise ValueError(f"{move}: it cannot be tried together with {other}")
        why = self._why_not(names)
        if why:
            raise ValueError(f"{move}: {why}")
        if sum(stage.random for stage in chain.stages if stage.name in names) > 1:
            self.note = f"{move}: {_OTHER_DRAWS}"
        return partial(ReorderedDataset, names=names)

    def forget(self) -> None:
        """The chain has other stages from now on."""
        self._checked.clear()

    def _why_not(self, names: tuple[str, ...]) -> str:
        if names not in self._checked:
            dataset = self._loader.own.dataset
            step = max(1, len(dataset) // _SAMPLES)
            indices = range(0, len(dataset), step)[:_SAMPLES]
            self._checked[names] = in_child(partial(why_not_reordered, dataset, names, indices))
        return self._checked[names]
