"""The arms of a pipeline whose stages are groups of its members. Not thread safe."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from .._chain.gate import Gate
from .node_feed import Cycle, Epoch, NodeArm, NodeFeed, OpenArms
from .state import Kept

MOST_AHEAD = 64
"""Untimed steps until what is made in advance is there, at most."""
TRIED = 2
"""Batches by which is seen what can be replayed."""
_MOST_THREADS = 64
"""What arms that wait for their next block may run."""


class GroupArms:
    """Base of these. `shared`: what the arms share with the script's own pipeline, which is given
    back at the end."""

    def __init__(self, shared: list[Kept]) -> None:
        self._shared = shared
        self._groups: list[list[Any]] = []
        self._last: Any = None
        """The last batch of a fill."""

    def _use_groups(self, groups: list[list[Any]]) -> None:
        """`groups`: the members of each stage."""
        self._groups = groups
        self._cycles = [Cycle() for _ in groups]
        """What is served behind each stage; behind the last one for its bypass alone."""
        self._filling = NodeArm(self._open_filling)
        self._live = NodeArm(self._open_live)
        self._replays = self._arm_of_each(self._open_replay)
        self._bypasses = self._arm_of_each(self._open_bypass)
        self._open_arms = OpenArms(_MOST_THREADS)

    def _arm_of_each(self, opens: Callable[[int, Gate], Epoch]) -> list[NodeArm]:
        return [NodeArm(functools.partial(opens, n)) for n in range(len(self._groups))]

    def _join(self, numbers: list[int]) -> list[list[Any]]:
        """The groups, with those of these numbers joined to the ones behind them."""
        groups = list(self._groups)
        for number in reversed(numbers):
            groups[number : number + 2] = [groups[number] + groups[number + 1]]
        return groups

    def _feed_of(
        self, arm: NodeArm, threads: int, samples_per_batch: Optional[int], boundary: int
    ) -> NodeFeed:
        """`threads`: that the arm keeps running while it waits. `boundary`: behind which members
        run."""
        self._open_arms.use(arm, threads)
        return NodeFeed(arm, samples_per_batch, self.ahead(boundary))

    def can_bypass(self, stage: int) -> bool:
        """True if there is a block without stage number `stage`, from 1."""
        return stage > 0

    def close(self) -> None:
        """Ends all threads and processes, and gives back what was shared."""
        self._end()
        for kept in self._shared:
            kept.restore()

    def _end(self) -> None:
        for arm in (self._filling, self._live, *self._replays, *self._bypasses):
            arm.close()

    def ahead(self, boundary: int) -> int:
        """Batches that the members behind `boundary` hold in advance, as far as that is known."""
        raise NotImplementedError

    def _open_live(self, gate: Gate) -> Epoch:
        raise NotImplementedError

    def _open_filling(self, gate: Gate) -> Epoch:
        """Keeps what passes each boundary."""
        raise NotImplementedError

    def _open_replay(self, number: int, gate: Gate) -> Epoch:
        """`number`: of the stage whose items are served, from 0."""
        raise NotImplementedError

    def _open_bypass(self, number: int, gate: Gate) -> Epoch:
        """`number`: of the stage that does not run, from 0."""
        raise NotImplementedError
