"""Which loaders each training step reads, and which of them is measured. Not thread safe."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .._chain.own_iteration import OwnIteration
from .._job.companions import Companion
from .._job.ranks import rank_and_world

if TYPE_CHECKING:
    from .measured import Context
    from .script_iterator import ScriptIterator

_CLEARLY = 1.25
"""The loader that is waited for so many times as long is measured in place of the other."""


class LoadersOfStep:
    """The iterators that batches of the present loop come from."""

    def __init__(self) -> None:
        self._iterators: weakref.WeakSet[ScriptIterator] = weakref.WeakSet()

    def note(self, iterator: ScriptIterator) -> None:
        """A batch of `iterator` is asked for, in the thread that trains."""
        self._iterators.add(iterator)

    def in_step_with(self, iterator: ScriptIterator) -> list[ScriptIterator]:
        """All others that batches come from between the same steps, however many."""
        return [
            other
            for other in list(self._iterators)
            if other is not iterator
            and other.pattern.stepped >= 3
            and other.pattern.is_near(iterator.pattern)
        ]

    def others(self, iterator: ScriptIterator) -> list[ScriptIterator]:
        """Others that give one batch whenever `iterator` does, in the order of their numbers."""
        pattern = iterator.pattern
        found = [
            other
            for other in self.in_step_with(iterator)
            if other.loader is not iterator.loader
            and not other.holds_another
            and other.pattern.batches_per_step() == pattern.batches_per_step()
        ]
        return sorted(found, key=lambda other: other.number)

    def chooses(self, iterator: ScriptIterator) -> bool:
        """True if `iterator` is to be measured, and not a slower one of the same steps. Ranks that
        wait for each other all take the first loader: their times differ."""
        others = [other for other in self.others(iterator) if other.trains]
        if rank_and_world()[1] > 1:
            return all(iterator.number < other.number for other in others)
        own = _CLEARLY * iterator.learnt.waited_per_batch()
        return all(other.learnt.waited_per_batch() <= own for other in others)


def companions_of(
    others: list[ScriptIterator], names: list[str], unwatched: Context
) -> list[Companion]:
    """Each of `others` as a stage of this name, with an iterator of its own."""
    companions = []
    for name, other in zip(names, others):
        own = OwnIteration(other.loader, other.reopen, unwatched)
        companions.append(Companion(name, own, other.learnt.writes_batches))
    return companions
