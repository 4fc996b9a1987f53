"""Fits a block between two disturbances: the ends of an epoch, validations.

Frameworks count the batches of an epoch and ask for a new iterator when it is over. Whatever runs
then is no training step, so a block that it falls into begins again. If that happens from the start
of an epoch, the block is longer than the epoch. It gets fewer steps if a quarter of them fit;
else the epoch is held: it ends where the block does, unless the script itself ends it.
"""

from __future__ import annotations

from typing import Any

_ATTEMPTS = 4
_LEAST = 0.25
"""Share of the steps below which a block tells too little."""
_HELD_IN_VAIN = 3
"""Blocks in held epochs that were disturbed after all: no epoch is held from then on."""


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
        room = self._room
        warmup, steps = int(self._request["warmup_steps"]), int(self._request["steps"])
        fitting = room.steps - warmup
        fitting -= fitting % self._group
        room.holds_epochs = fitting < _LEAST * steps and room.may_hold_epochs
        if room.holds_epochs or not 0 < fitting < steps:
            return self._request
        return {**self._request, "steps": fitting}

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
        self.holds_epochs = False
        """The epoch goes on until the present block ends."""
        self._held_in_vain = 0

    @property
    def may_hold_epochs(self) -> bool:
        """False if blocks are disturbed all the same."""
        return self._held_in_vain < _HELD_IN_VAIN

    def note(self, steps: int, is_whole: bool) -> None:
        """`is_whole`: they began right after a disturbance, too."""
        self._held_in_vain += self.holds_epochs
        if is_whole and (steps > self.steps or self.steps == Room.UNLIMITED):
            self.steps = max(1, steps)
