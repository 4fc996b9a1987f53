"""What a block says of each stage: `stages` of docs/extend/protocol.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._chain.description import COMPANION, PIN, SAMPLER, TRANSFER, Chain
from .._chain.pinning import threads_share_interpreter
from .._worker.tasks import StageRow
from .feeds import Waiting


class StageEntries:
    """The entries of one block. `steps`, `samples`: timed ones. `waiting`: how the training thread
    waited in them.

    `sums`: counters of the stages in workers, by their number. `sampler_seconds`: what drawing
    indices took. `pin_python_seconds`: time that Python code takes in pinning one batch.
    `companion_seconds`: time waited for each of the other loaders.
    """

    def __init__(
        self,
        chain: Chain,
        waiting: Waiting,
        steps: int,
        samples: int,
        sums: list[StageRow],
        sampler_seconds: float,
        pin_python_seconds: float,
        companion_seconds: Sequence[float] = (),
    ) -> None:
        self._chain = chain
        self._waiting = waiting
        self._steps = steps
        self._samples = samples
        self._sums = sums
        self._sampler_seconds = sampler_seconds
        self._pin_python_seconds = pin_python_seconds
        self._companion_seconds = iter(companion_seconds)
        self._shares = threads_share_interpreter()

    def all(self) -> list[dict[str, Any]]:
        """One entry per stage."""
        return [self._stage(index) for index in range(self._chain.last)]

    def _stage(self, index: int) -> dict[str, Any]:
        place = self._chain.stages[index].place
        counted = self._chain.counted_stage(index)
        if counted is not None and self._sums:
            row = self._sums[counted]
            stretch = row.samples / row.timed if row.timed > 0 else 0.0
            return _entry(row.samples if row.timed else 0, row.busy * stretch, row.cpu * stretch, 0)
        if place == SAMPLER:
            seconds = self._sampler_seconds
            return _entry(self._samples if seconds > 0 else 0, seconds, seconds, seconds)
        if place == TRANSFER:
            return self._transfer()
        if place == PIN:
            return self._pin()
        if place == COMPANION:
            seconds = next(self._companion_seconds, 0.0)
            return _entry(self._samples if seconds > 0 else 0, seconds, 0, 0)
        return _entry(0, 0, 0, 0)

    def _transfer(self) -> dict[str, Any]:
        """In the training thread, or in the pin thread and then handed over."""
        waiting = self._waiting
        if waiting.received == 0 and waiting.pinned == 0:
            return _entry(0, 0, 0, 0)
        taken = waiting.receiving * self._steps / max(1, waiting.received)
        each = self._steps / max(1, waiting.pinned)
        busy, cpu = waiting.unpacking * each, waiting.unpacking_cpu * each
        serial = cpu if self._shares else 0.0
        return _entry(self._samples, taken + busy, taken + cpu, taken + serial)

    def _pin(self) -> dict[str, Any]:
        waiting = self._waiting
        if waiting.pinned == 0:
            return _entry(0, 0, 0, 0)
        each = self._steps / waiting.pinned
        busy, cpu = waiting.pinning * each, waiting.pinning_cpu * each
        if not self._chain.has(TRANSFER):  # Without workers the training thread pins.
            return _entry(self._samples, busy, cpu, busy)
        python = self._pin_python_seconds * self._steps if self._shares else 0.0
        return _entry(self._samples, busy, cpu, min(busy, python))


def _entry(samples: float, busy: float, cpu: float, serial: float) -> dict[str, Any]:
    return {
        "samples": int(samples),
        "busy_seconds": max(0.0, float(busy)),
        "cpu_seconds": max(0.0, float(cpu)),
        "serial_seconds": max(0.0, float(serial)),
        "slot_write_seconds": 0.0,
        "slot_writes": 0,
    }
