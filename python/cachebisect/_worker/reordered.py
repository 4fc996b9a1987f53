"""A dataset whose stages run in another order: the last of some before all others. Not thread
safe."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, Optional

from .._chain import trees
from .._chain.forwarding import Forwarding
from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .kept_random import KeptRandom
from .probe import planned_slots

_DIFFER = "samples differ when it runs earlier"


class ReorderedDataset(Forwarding):
    """`dataset`, of whose stages `names`, members of one container, the last runs first."""

    def __init__(self, dataset: Any, names: Sequence[str]) -> None:
        super().__init__(dataset)
        self._names = tuple(names)
        self._slots: Optional[list[Slot]] = None
        self.become_ready()

    def __getitem__(self, index: Any) -> Any:
        if self._slots is None:
            self._slots = planned_slots(self.dataset, self._names)
        held = _last_first([slot.get() for slot in self._slots])
        with Installed(self._slots, lambda stage, _: held[stage]):
            return self.dataset[index]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_slots": None}


def why_not_reordered(dataset: Any, names: Sequence[str], indices: Sequence[Any]) -> str:
    """Why samples are not the same then, in words; empty if those of `indices` are, bit by bit.

    Each stage draws the same random numbers in both orders. Raises what the dataset raises in the
    order that it has. Random numbers go on from where they were.
    """
    slots = planned_slots(dataset, names)
    if len(slots) != len(names):
        return "its stages cannot be found in this process"
    for index in indices:
        make = partial(_digest, dataset, index, slots)
        own = make(list)
        if make(list) != own:
            return "samples are not the same each time: both orders cannot be compared"
        try:
            if make(_last_first) != own:
                return _DIFFER
        except Exception as error:  # Code of the user's, for another kind of image.
            return f"a stage fails when it runs earlier: {type(error).__name__}: {error}"
    return ""


def _last_first(items: list[Any]) -> list[Any]:
    return [*items[-1:], *items[:-1]]


def _digest(
    dataset: Any, index: Any, slots: list[Slot], order: Callable[[list[Any]], list[Any]]
) -> int:
    """Of the sample with the stages in this order."""
    held = order([_with_own_draws(slot.get(), key) for key, slot in enumerate(slots)])
    with KeptRandom(), Installed(slots, lambda stage, _: held[stage]):
        return trees.digest(dataset[index])


def _with_own_draws(function: Callable[..., Any], key: int) -> Callable[..., Any]:
    """`function` with random numbers of its own, whatever was drawn before."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with KeptRandom():
            random.seed(key)
            sys.modules["torch"].default_generator.manual_seed(key)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(key)
            return function(*args, **kwargs)

    return call
