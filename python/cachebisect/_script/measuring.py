"""What a script gets from its loaders while one of them is measured. Not thread safe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .._engine.adapter import Adapter
from .._job.companions import Companion
from .loader_hooks import Level, Open
from .script_iterator import ScriptIterator

_OFTEN = 0.5
"""Iterators of other loaders in each step above which they are part of it."""


class Measuring:
    """`taken`: what is measured. `companions`: other iterators that each step reads. `in_step`:
    all that batches come from between the same steps."""

    def __init__(
        self,
        adapter: Adapter,
        taken: ScriptIterator,
        companions: list[tuple[ScriptIterator, Companion]],
        in_step: list[ScriptIterator],
    ) -> None:
        self.adapter = adapter
        self._taken = taken
        self._companions = companions
        known = [taken, *(iterator for iterator, _ in companions)]
        self._in_step = [one for one in in_step if all(one is not other for other in known)]
        self._others_in_steps = taken.others_per_step() > _OFTEN
        self._opened_in_steps = taken.opened_per_batch() > _OFTEN
        if self._others_in_steps or any(not one.holds_another for one in self._in_step):
            adapter.notes.append("another loader is read in each step: that is part of the step")

    def iterator(self, loader: Any, original: Open, level: Level) -> Iterator[Any]:
        """What the script iterates in place of `original(loader)`. Raises what that raises."""
        known = [self._taken, *(iterator for iterator, _ in self._companions)]
        for iterator in known:
            if iterator.level is level and self._begins_again(iterator, loader):
                if not self._opened_in_steps:
                    self.adapter.disturb(on_all_ranks=True)
                if iterator.epoch is not None:
                    iterator.epoch.begin()
                return iterator
        if all(iterator.loader is not loader for iterator in known) and not self._others_in_steps:
            self.adapter.disturb(on_all_ranks=False)
        return original(loader)

    def _begins_again(self, iterator: ScriptIterator, loader: Any) -> bool:
        """True if the next epoch begins: some scripts make a loader of the same data for each."""
        if iterator.loader is loader:
            return True
        ended = iterator is self._taken and iterator.epoch is not None and iterator.epoch.is_over()
        is_alike = type(loader) is type(iterator.loader)
        is_alike = is_alike and loader.dataset is iterator.loader.dataset
        return ended and is_alike and bool(sys.modules["torch"].is_grad_enabled())

    def batch(self, iterator: ScriptIterator) -> Any:
        """A batch of another iterator than `taken`. Raises what its loader raises."""
        for other, companion in self._companions:
            if other is iterator:
                return self._batch_of(other, companion)
        is_known = iterator.holds_another or any(one is iterator for one in self._in_step)
        if not self._others_in_steps and not is_known:
            self.adapter.disturb(on_all_ranks=False)
        return iterator.own_batch()

    def _batch_of(self, iterator: ScriptIterator, companion: Companion) -> Any:
        try:
            return companion.next_batch()
        except Exception as error:  # Of an iterator that the script has not asked for.
            self.adapter.fail(error, companion.name)
            return iterator.own_batch()
