"""Which stages of an iterable dataset run ahead of the samples that it gives. Not thread safe."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable

from .draws import GLUE, DrawWatch

_FEW = 3
_FAR = 4
"""The first sample may take a few calls, or so many times those of the others: samples differ."""


class CallWatch(DrawWatch):
    """Counts the calls of each stage while each sample is made, too."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[Counter[int]] = []

    def begin_sample(self) -> None:
        self._calls.append(Counter())
        super().begin_sample()

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if stage != GLUE:
            self._calls[-1][stage] += 1
        return super().call(stage, function, args, kwargs)

    def ahead(self) -> set[int]:
        """Stages that the first sample alone calls, or far more often than the others do: a shuffle
        buffer is filled behind them, or many samples are made at once. What a sample costs there
        cannot be told from the calls while it was made."""
        if len(self._calls) < 2:
            return set()
        first, *others = self._calls
        most = {stage: max(calls[stage] for calls in others) for stage in first}
        return {
            stage
            for stage, count in first.items()
            if most[stage] == 0 or count > max(_FEW, _FAR * most[stage])
        }
