"""Fits a block between two disturbances: the ends of an epoch, validations.

Frameworks count the batches of an epoch and ask for a new iterator when it is over. Whatever runs
then is no training step, so a block that it falls into begins again. If that happens from the start
of an epoch, the block is longer than the epoch, and gets fewer steps.
"""

from __future__ import annotations

from typing import Any

_ATTEMPTS = 4


class Attempts:
    """The attempts at one block. `room`: shared by all blocks of a job. `group`: blocks are
    multiples of so many steps."""

    def __init__(self, request: dict[str, Any], room: Room, group: int) -> None:
        self._request = request
        self._room = room
        self._group = max(1, group)
        self._made = 0

    def next_request(self) -> dict[str, Any]:
        """What the next attempt runs."""
        self._made += 1
        warmup, steps = int(self._request["warmup_steps"]), int(self._request["steps"])
        fitting = self._room.steps - warmup
        fitting -= fitting % self._group
        if 0 < fitting < steps:
            return {**self._request, "steps": fitting}
        return self._request

    def begins_again(self, taken: int) -> bool:
        """A disturbance after `taken` batches. False: the block is void, and runs to its end."""
        # The end of the last step before a disturbance is not seen.
        self._room.note(taken - 1, is_whole=self._made > 1)
        return self._made < _ATTEMPTS


class Room:
    """The most steps that were ever seen between two disturbances."""

    UNLIMITED = 1 << 30

    def __init__(self) -> None:
        self.steps = Room.UNLIMITED

    def note(self, steps: int, is_whole: bool) -> None:
        """`is_whole`: they began right after a disturbance, too."""
        if is_whole and (steps > self.steps or self.steps == Room.UNLIMITED):
            self.steps = max(1, steps)
