"""Batches without the tensors that no step reads: `unused=drop`. Not thread safe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .._chain.settings import UNUSED
from .._chain.use_watch import Unused
from .._worker.left_out import StandIns
from .feeds import Feed


class UnusedParts:
    """Live arms without them. `found`: what the step does not read, as far as that is known."""

    def __init__(self) -> None:
        self.found: Sequence[Unused] = ()
        self.fault = ""
        """Why such an arm cannot run any more; empty if it can."""

    def why_not(self, arm: dict[str, Any]) -> str:
        """Why `arm` cannot run; empty if it can."""
        if UNUSED not in _overrides(arm):
            return ""
        return self.fault or ("" if self.found else "the step reads all of its batches")

    def named(self, arm: dict[str, Any]) -> dict[str, Any]:
        """`arm`, as a loader understands it: with the names of what is left out."""
        overrides = _overrides(arm)
        if UNUSED not in overrides:
            return arm
        return {**arm, "overrides": {**overrides, UNUSED: json.dumps(self._names())}}

    def over(self, arm: dict[str, Any], feed: Feed) -> Feed:
        """`feed`, or what puts memory in the place of what the workers of `arm` have left out."""
        return WithStandIns(feed, self) if UNUSED in _overrides(arm) else feed

    def note_read(self) -> None:
        """A step has read what stands in the place of what was left out."""
        names = ", ".join(self._names())
        self.fault = f"the step did read {names} after all: leave it where it is"

    def _names(self) -> list[str]:
        return [each.name for each in self.found]


class WithStandIns(Feed):
    """Raises ValueError if an earlier block has shown that the step reads what was left out."""

    def __init__(self, feed: Feed, parts: UnusedParts) -> None:
        super().__init__()
        self._feed = feed
        self._parts = parts
        self._stand_ins = StandIns()
        self._was_read = False
        self.waiting = feed.waiting
        self.settling_steps = feed.settling_steps

    def expect(self, steps: int) -> None:
        self._feed.expect(steps)

    def begin(self, block: int) -> None:
        if self._parts.fault:
            raise ValueError(self._parts.fault)
        self._feed.begin(block)

    def take(self) -> tuple[Any, int]:
        batch, size = self._feed.take()
        return self._stand_ins.put_into(batch), size

    def end(self) -> None:
        self._feed.end()
        if self._stand_ins.were_read():
            self._was_read = True
            self._parts.note_read()

    def is_spoiled(self) -> bool:
        return self._was_read or self._feed.is_spoiled()


def _overrides(arm: dict[str, Any]) -> dict[str, str]:
    return arm.get("overrides") or {}
