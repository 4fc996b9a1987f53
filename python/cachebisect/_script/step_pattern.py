"""How the batches that a loop takes lie between the steps of its optimizers. Not thread safe."""

from __future__ import annotations

import statistics
from collections import deque

_GAPS = 32
"""That are remembered: each batch asks for the most frequent one."""


class StepPattern:
    """`optimizer_steps`: that the script has taken before the loop."""

    def __init__(self, optimizer_steps: int) -> None:
        self._seen = optimizer_steps
        self._advance = 0
        """Steps of all optimizers between the last two requests that came right after one."""
        self._since = 0
        self._gaps: deque[int] = deque(maxlen=_GAPS)
        self.entries = 0
        """Batches that were asked for."""
        self.stepped = 0
        """Requests right before which an optimizer had stepped."""
        self.in_phase = False
        """True if the last request is one of these: a period of gradient accumulation begins."""

    def enter(self, optimizer_steps: int) -> None:
        """A batch is asked for."""
        self.entries += 1
        self._since += 1
        self.in_phase = optimizer_steps > self._seen
        if not self.in_phase:
            return
        self._advance = optimizer_steps - self._seen
        self._seen = optimizer_steps
        if self.stepped > 0:
            self._gaps.append(self._since)
        self._since = 0
        self.stepped += 1

    def is_near(self, other: StepPattern) -> bool:
        """True if both gave their last batch for the same step."""
        return abs(self._seen - other._seen) <= max(self._advance, other._advance)

    def batches_per_step(self) -> int:
        """Batches from one optimizer step to the next: the most frequent number, 1 if unknown."""
        return statistics.mode(self._gaps) if self._gaps else 1
