"""What is measured of a rank that has no loader: how long its steps take. Not thread safe."""

from __future__ import annotations

import os
from typing import Any, Protocol

from .._chain.description import Chain
from .attempts import Room
from .blocks import Block
from .device_marks import DeviceMarks
from .feeds import Feed
from .pass_through import PassThrough
from .state import KeptState


class Rank(Protocol):
    """What every rank of a job can do, with or without a loader."""

    state: KeptState
    room: Room

    def describe(self, passed: PassThrough, notes: list[str]) -> dict[str, Any]:
        """Fields of the answer to `describe`."""

    def steps_of_group(self, batches_per_step: int) -> int:
        """Blocks are multiples of so many steps."""

    def begin_round(self) -> None:
        """Restores the state."""

    def begin_block(self, request: dict[str, Any]) -> Block:
        """Starts the block of a `run` request."""

    def cpu_seconds(self) -> float:
        """CPU time of this process and of all its children so far."""

    def close(self) -> None:
        """The last call."""


class RankWithoutLoader:
    """Takes the steps of the others. `device`: the torch.device of the step, or None for the
    CPU."""

    def __init__(self, state: KeptState, device: Any = None) -> None:
        self.state = state
        self.room = Room()
        self._marks = DeviceMarks(device if device is not None and device.type != "cpu" else None)
        self._blocks = 0

    def describe(self, passed: PassThrough, notes: list[str]) -> dict[str, Any]:
        return {"chain": {"loader": "none"}, "notes": notes}

    def steps_of_group(self, batches_per_step: int) -> int:
        return max(1, batches_per_step)

    def begin_round(self) -> None:
        self.state.restore()

    def begin_block(self, request: dict[str, Any]) -> Block:
        # Groups are timed per sample, and there are none.
        plain = {**request, "groups": 1, "profile": False, "arm": {"observed": False}}
        block = Block(plain, _NoBatches(), Chain([]), None, self._marks, lambda: 0.0)
        self._blocks += 1
        block.begin(self._blocks)
        return block

    def cpu_seconds(self) -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def close(self) -> None:
        self._marks.close()


class _NoBatches(Feed):
    def take(self) -> tuple[Any, int]:
        return None, 0
