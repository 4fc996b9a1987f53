"""Which loaders each training step reads, and which of them is measured. Not thread safe."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .._chain.own_iteration import OwnIteration
from .._follow.loaders import Level
from .._job.companions import Companion
from .._job.ranks import rank_and_world

if TYPE_CHECKING:
    from .measured import Context
    from .script_iterator import ScriptIterator
    from .seen_loaders import SeenLoaders

_CLEARLY = 1.25
"""The loader that is waited for so many times as long is measured in place of the other."""


class LoadersOfStep:
    """The iterators that batches of the present loop come from. `named`: only what `--iterator`
    names is measured."""

    def __init__(self, named: bool = False) -> None:
        self._named = named
        self._iterators: weakref.WeakSet[ScriptIterator] = weakref.WeakSet()

    def note(self, iterator: ScriptIterator) -> None:
        """A batch of `iterator` is asked for, in the thread that trains."""
        self._iterators.add(iterator)

    def may_choose(self, iterator: ScriptIterator) -> bool:
        """False for what is no candidate, whatever its batches are for."""
        if self._named:
            return iterator.level is Level.NAMED and not iterator.is_inner
        return not iterator.holds_another

    def in_step_with(self, iterator: ScriptIterator) -> list[ScriptIterator]:
        """All others that batches come from between the same steps, however many."""
        return [
            other
            for other in list(self._iterators)
            if other is not iterator
            and other.pattern.stepped >= 3
            and not (self._named and other.is_inner)
            and other.pattern.is_near(iterator.pattern)
        ]

    def others(self, iterator: ScriptIterator) -> list[ScriptIterator]:
        """Others that give one batch whenever `iterator` does, in the order of their numbers."""
        pattern = iterator.pattern
        found = [
            other
            for other in self.in_step_with(iterator)
            if other.loader is not iterator.loader
            and (self._named or not other.holds_another)
            and other.pattern.batches_per_step() == pattern.batches_per_step()
        ]
        return sorted(found, key=lambda other: other.number)

    def chooses(self, iterator: ScriptIterator) -> bool:
        """True if `iterator` is to be measured, and not a slower one of the same steps. Ranks that
        wait for each other all take the first loader: their times differ."""
        others = [
            other for other in self.others(iterator) if other.trains and self.may_choose(other)
        ]
        if rank_and_world()[1] > 1:
            return all(iterator.number < other.number for other in others)
        own = _CLEARLY * iterator.learnt.waited_per_batch()
        return all(other.learnt.waited_per_batch() <= own for other in others)


def companions_of(
    others: list[ScriptIterator], loaders: SeenLoaders, unwatched: Context
) -> list[Companion]:
    """Each of `others` as a stage of its name, with an iterator of its own."""
    companions = []
    for other in others:
        name = loaders.name_of(other.number)
        own = OwnIteration(other.loader, other.reopen, unwatched)
        other.learnt.end_watching()
        companions.append(Companion(name, own, other.learnt.writes_batches))
    return companions
