"""What a script gets from its loaders while one of them is measured. Not thread safe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Optional

from .._engine.adapter import Adapter
from .._engine.messages import ConnectionLost, Message
from .._follow.loaders import Level, Open
from .._job.companions import Companion
from .script_iterator import ScriptIterator

_OFTEN = 0.5
"""Iterators of other loaders in each step above which they are part of it."""


_MOST_ELSEWHERE = 100
"""Steps that a script may take elsewhere once the epoch that is measured is over."""


class LeftBehind(Exception):
    """The script does not come back to the loader that is measured."""

    def __init__(self) -> None:
        super().__init__(
            "the epoch that was measured is over, and the script trains on another loader now: "
            "make the dataset once and not for each epoch, or let the epoch go on until the "
            "verdict (--then continue)"
        )


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
        self._elsewhere = 0
        self._given = 0
        if self._others_in_steps or any(not one.holds_another for one in self._in_step):
            adapter.notes.append("another loader is read in each step: that is part of the step")

    def iterator(self, loader: Any, original: Open, level: Level) -> Iterator[Any]:
        """What the script iterates in place of `original(loader)`. Raises what that raises."""
        known = [self._taken, *(iterator for iterator, _ in self._companions)]
        for iterator in known:
            if iterator.level is level and self._begins_again(iterator, loader):
                if self._is_second_of_step(iterator):
                    return original(loader)
                if not self._opened_in_steps:
                    self.adapter.disturb(on_all_ranks=True)
                if iterator.epoch is not None:
                    iterator.epoch.begin()
                return iterator
        if all(iterator.loader is not loader for iterator in known) and not self._others_in_steps:
            self.adapter.disturb(on_all_ranks=False)
        return original(loader)

    def _is_second_of_step(self, iterator: ScriptIterator) -> bool:
        """True if each step reads two iterators of this loader, and the first is just begun."""
        twice = any(one.loader is iterator.loader for one in self._in_step)
        return twice and iterator.epoch is not None and iterator.epoch.has_just_begun()

    def _begins_again(self, iterator: ScriptIterator, loader: Any) -> bool:
        """True if the next epoch begins: some scripts make a loader of the same data for each."""
        if iterator.loader is loader:
            return True
        ended = iterator is self._taken and iterator.epoch is not None and iterator.epoch.is_over()
        is_alike = type(loader) is type(iterator.loader)
        is_alike = is_alike and loader.dataset is iterator.loader.dataset
        return ended and is_alike and bool(sys.modules["torch"].is_grad_enabled())

    def is_left(self) -> bool:
        """True if the script has trained on other loaders for long since the epoch ended. Called
        after each step of an optimizer."""
        epoch = self._taken.epoch
        if epoch is None or not epoch.is_over() or epoch.given != self._given:
            self._elsewhere = 0
            self._given = 0 if epoch is None else epoch.given
        else:
            self._elsewhere += 1
        return self._elsewhere > _MOST_ELSEWHERE

    def leave(self) -> Optional[Message]:
        """Tells the engine. Returns its `finish`; None if it is gone."""
        try:
            return self.adapter.wait_for_finish(LeftBehind())
        except ConnectionLost:
            return None

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
        except Exception as error:  # An error of an iterator that the script has not asked for.
            self.adapter.fail(error, companion.name)
            return iterator.own_batch()


class MeasuringSteps(Measuring):
    """The same on a rank without a loader: whatever it reads is part of its steps."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    def iterator(self, loader: Any, original: Open, level: Level) -> Iterator[Any]:
        self.adapter.disturb(on_all_ranks=False)
        return original(loader)

    def is_left(self) -> bool:
        return False

    def batch(self, iterator: ScriptIterator) -> Any:
        self.adapter.disturb(on_all_ranks=False)
        return iterator.own_batch()
