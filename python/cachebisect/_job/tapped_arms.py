"""Arms whose caches are filled by functions that stand between the members of a pipeline.

Not thread safe.
"""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any, Optional

from .._chain import tree_sizes, trees
from .group_arms import TRIED, GroupArms
from .node_feed import NodeArm, NodeFeed
from .node_fill import can_be_served
from .state import Kept
from .tap import Tap


class TappedArms(GroupArms):
    """Base of these. `threads`: that an arm keeps running while it waits for its next block."""

    def __init__(self, shared: list[Kept], threads: int) -> None:
        super().__init__(shared)
        self.notes: list[str] = []
        self._threads = threads

    def _use_groups(self, groups: list[list[Any]]) -> None:
        super()._use_groups(groups)
        self._taps = [self._tap() for _ in groups[1:]]
        self._kept: list[list[Any]] = [[] for _ in groups[1:]]
        self.batches = 0
        """That what is kept was made to."""
        self._all_batches = 0
        """Batches of all fills."""

    def _tap(self) -> Tap:
        return Tap()

    def _taken_for_one(self, member: Any) -> Optional[float]:
        """Items that a member takes for each that it gives; None if that does not show."""
        raise NotImplementedError

    def look(self) -> None:
        """Makes a few batches, and joins stages whose boundary cannot be replayed. Raises what the
        pipeline raises."""
        self._try()
        joined = [n for n, kept in enumerate(self._kept) if not kept or not can_be_served(kept)]
        if not joined:
            return
        groups = self._join(joined)
        self._end()
        self.notes.append(
            "what some stages give cannot be kept and given again: they are measured together "
            "with the stage behind them"
        )
        self._use_groups(groups)
        self._try()

    def _try(self) -> None:
        for batch in self.fill(TRIED):
            self._drop(batch)

    def _drop(self, batch: Any) -> None:
        """Nobody gets it."""

    # Caches

    def fill(self, batches: int) -> Generator[Any, None, None]:
        """Gives so many batches, one by one, and keeps what they are made of. Raises what the
        pipeline raises."""
        made = 0
        self._filling.go_on()
        try:
            for _ in range(batches):
                self._last = self._filling.next()
                made += 1
                yield self._last
        finally:
            self._filling.pause()
            if made > 0:
                self._keep(made)

    def _keep(self, batches: int) -> None:
        """Serves what the last so many batches were made of."""
        self.batches = batches
        self._all_batches += batches
        for number, (tap, cycle) in enumerate(zip(self._taps, self._cycles)):
            kept = tap.take(max(1, round(batches * self._per_batch(number))))
            self._kept[number] = kept or self._kept[number]
            cycle.items = self._kept[number]
            cycle.copies = cycle.copies or tap.is_written

    def _per_batch(self, number: int) -> float:
        """Items behind stage `number`, from 0, that a batch takes."""
        each = 1.0
        for behind in range(number + 1, len(self._groups)):
            each *= self._taken(behind)
        return each

    def _taken(self, number: int) -> float:
        """Items that stage `number` takes for each that it gives."""
        known = [self._taken_for_one(member) for member in self._groups[number]]
        if all(one is not None for one in known):
            return functools.reduce(lambda a, b: a * (b or 1.0), known, 1.0)
        given = self._taps[number].count if number < len(self._taps) else self._all_batches
        return self._taps[number - 1].count / max(1, given)

    @property
    def copies_written(self) -> bool:
        """True if a stage writes into its input."""
        return any(tap.is_written for tap in self._taps)

    def bytes_at(self, stage: int) -> float:
        """As MemberArms has it."""
        return float(sum(map(tree_sizes.nbytes, self._kept[stage - 1])))

    def outputs(self) -> list[str]:
        """In words: an item that each stage has given."""
        return [trees.describe(item) for item in (*(kept[-1] for kept in self._kept), self._last)]

    # Blocks

    def feed(self, boundary: int, samples_per_batch: Optional[int], limit: int) -> NodeFeed:
        """As MemberArms has it."""
        arm = self.arm_of_replay(boundary, limit)
        return self._feed_of(arm, self._threads, samples_per_batch, boundary)

    def bypass(
        self, stage: int, samples_per_batch: Optional[int], batches: list[Any], copies: bool
    ) -> NodeFeed:
        """As MemberArms has it."""
        self._cycles[-1].items, self._cycles[-1].copies = batches, copies
        return self._feed_of(self.arm_of_bypass(stage), self._threads, samples_per_batch, 0)

    def arm_of_replay(self, boundary: int, limit: int) -> NodeArm:
        """As feed()."""
        if boundary == 0:
            return self._live
        kept = self._kept[boundary - 1]
        upto = max(1, round(limit * self._per_batch(boundary - 1))) if limit > 0 else len(kept)
        self._cycles[boundary - 1].items = kept[:upto]
        return self._replays[boundary - 1]

    def arm_of_bypass(self, stage: int) -> NodeArm:
        """As bypass(), for what is kept here."""
        if stage <= len(self._kept):
            self._cycles[stage - 1].items = self._kept[stage - 1]
        return self._bypasses[stage - 1]
