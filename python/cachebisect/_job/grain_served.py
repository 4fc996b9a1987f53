"""What a process of Grain works on: all arms of the stages that it runs, of which one runs at a
time.

Importing this imports grain: only where the program has done so.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Generator
from typing import Any, NamedTuple, Optional

import grain

from .._chain.grain_graph import members_of
from .grain_arms import GrainArms
from .grain_control import BYPASS, END, FACTS, FILL, LIVE, PAUSE, REPLAY, Control
from .grain_parts import Passing
from .node_feed import NodeArm

_POLL_SECONDS = 0.001
_MANY = 1 << 30
"""Batches of a fill: it goes on until something else is asked for."""


class Facts(NamedTuple):
    """What one process has kept. Its last stage is that it sends its batches."""

    sizes: list[int]
    """Transformations of each stage."""
    outputs: list[str]
    """In words: an item that each stage has given."""
    nbytes: list[float]
    batches: int
    """That are kept."""
    is_written: bool
    drew: bool


class Served(grain.IterDataset):  # type: ignore[misc]
    """Gives (code, facts, batch), as `control` says. `root`: what the process would work on."""

    def __init__(self, root: Any, control: Control) -> None:
        super().__init__(root)
        self.has_child = True
        self._control = control

    def __iter__(self) -> Any:
        return _Served(self._parents[0], self._control)


class _Served(grain.DatasetIterator):  # type: ignore[misc]
    def __init__(self, root: Any, control: Control) -> None:
        super().__init__()
        self._root = root
        self._control = control
        self._code = PAUSE
        self._arms: Optional[GrainArms] = None
        self._arm: Optional[NodeArm] = None
        self._fill: Optional[Generator[Any, None, None]] = None

    def __next__(self) -> Any:
        while True:
            code, limit = self._control.read()
            if code == PAUSE:
                self._pause()
                time.sleep(_POLL_SECONDS)
            if self._control.is_orphaned():
                os._exit(1)
            if code == END:
                self._pause()
                if self._arms is not None:
                    self._arms.close()
                raise StopIteration
            if code != PAUSE:
                return code, *self._made(code, limit)

    def _made(self, code: int, limit: int) -> tuple[bytes, Any]:
        if code != self._code:
            self._pause()
            self._begin(code, limit)
        if code == FACTS:
            self._pause()
            return pickle.dumps(self._facts()), ()
        if self._fill is not None:
            return b"", next(self._fill)
        assert self._arm is not None
        return b"", self._arm.next()

    def _begin(self, code: int, limit: int) -> None:
        arms = self._known_arms()
        self._code = code
        if code == FILL:
            self._fill = arms.fill(_MANY)
        elif code != FACTS:
            self._arm = _arm_of(arms, code, limit)
            self._arm.go_on()

    def _pause(self) -> None:
        arm, self._arm = self._arm, None
        fill, self._fill = self._fill, None
        self._code = PAUSE
        if arm is not None:
            arm.pause()
        if fill is not None:
            fill.close()

    def _known_arms(self) -> GrainArms:
        if self._arms is None:
            members = [*members_of(self._root), Passing(self._root)]
            self._arms = GrainArms(members, [], opened=self._as_here)
            self._arms.look()
        return self._arms

    def _as_here(self, iterator: Any) -> None:
        """Random numbers of a process depend on which it is."""
        iterator._ctx.mp_context = self._ctx.mp_context
        own = iterator._ctx.dataset_options
        iterator._ctx.dataset_options = self._ctx.dataset_options.merge(own)

    def _facts(self) -> Facts:
        arms = self._known_arms()
        return Facts(
            arms.sizes(), arms.outputs(),
            [arms.bytes_at(stage) for stage in range(1, len(arms.sizes()))],
            arms.batches, arms.copies_written, arms.drew,
        )  # fmt: skip

    def get_state(self) -> dict[str, Any]:
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """An epoch begins anew where it is asked for."""


def _arm_of(arms: GrainArms, code: int, limit: int) -> NodeArm:
    if code == LIVE:
        return arms.arm_of_replay(0, 0)
    if code < BYPASS:
        return arms.arm_of_replay(code - REPLAY, limit)
    return arms.arm_of_bypass(code - BYPASS)
