"""Makes batches with the tapes of their samples. Not thread safe."""

from __future__ import annotations

from typing import Any, Callable, Union

from .._chain.slots import Slot
from .._chain.sources import IndexedSource, IterableSource
from .cached_batch import CachedBatch
from .native_memory import allocated_bytes, settled_bytes
from .recording import settled
from .tape import Copies, Tape, answer_from
from .tasks import SharedArea, Stale, Task
from .unseen import answered_from

_Maker = Callable[[Callable[[], Any]], Tape]
"""Gives the tape of a sample from what makes it."""


class BatchMaker:
    """The batch maker of one worker. `members`: slots that are stages; `copies` grows with what is
    found."""

    def __init__(
        self, source: Union[IndexedSource, IterableSource], area: SharedArea, members: list[Slot]
    ) -> None:
        self._source = source
        self._area = area
        self._members = members
        self.copies = Copies()

    def recorded(self, task: Task) -> Union[CachedBatch, Stale]:
        """The batch of a FILL task, made by all stages."""
        before = allocated_bytes()
        held = self._batch(task, lambda make: settled(self._members, make, self.copies))
        if isinstance(held, CachedBatch) and self._keeps_objects(held.tapes):
            grown = settled_bytes() - before
            held.native_bytes = max(0, grown - sum(held.sizes(len(self._members))))
        return held

    def prepared(self, task: Task, known: list[Tape]) -> Union[CachedBatch, Stale]:
        """The batch of a PREPARE task: the stages from its level on are not called, the tapes
        `known` answer for them."""
        run = answered_from(known, task.level - 1)
        return self._batch(task, lambda make: settled(self._members, make, self.copies, run))

    def bypassed(self, task: Task, known: list[Tape]) -> Any:
        """Live samples for a BYPASS task at a member, which is not called: `known` answers."""
        member = task.level - 2
        slot = self._members[member]
        makers = self._source.makers(task.indices)
        made = [answer_from(known, member, slot, self.copies, make) for make in makers]
        return self._source.joined(made)

    def _batch(self, task: Task, tape_of: _Maker) -> Union[CachedBatch, Stale]:
        source = self._source
        held = CachedBatch(source.count(task.indices))
        for make in source.makers(task.indices):
            held.tapes.append(tape_of(make))
            if not self._area.is_current(task):
                return Stale()
        held.samples = source.joined([tape.sample for tape in held.tapes])
        return held

    def _keeps_objects(self, tapes: list[Tape]) -> bool:
        """True if a tape holds an object of a library: it would be closed if it were not kept."""
        calls = (call for tape in tapes for call in tape.calls if call.owner)
        return any(self._members[call.stage].steady for call in calls)
