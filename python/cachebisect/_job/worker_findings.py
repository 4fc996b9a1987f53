"""What the first samples and batches of the workers tell: of the batch, and of the workers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from .._chain import facts
from .._chain.dask_settings import DASK_THREADS, ONE_DASK_THREAD
from .._chain.payload import Finding, findings
from .._chain.settings import MALLOC, UNUSED, line_of
from .._chain.use_watch import Unused, line_without
from .._worker.allocator import KEEP
from .._worker.left_out import collates_each_part
from .page_faults import PageFaults
from .sending import SendingCost, sending_cost


@dataclass
class WorkerFindings:
    """Of a loader whose workers have made a batch. `workers`: how many there are; 0: the training
    process loads."""

    workers: int = 0
    threads: int = 1
    """That each worker computes with, by torch or OpenCV."""
    dask_threads: Optional[int] = None
    """As used_threads() says it of a worker."""
    contents: Optional[dict[str, Any]] = None
    sending: Optional[SendingCost] = None
    """What sending a batch would cost, if the training process loads; None: not known."""
    payload: list[Finding] = field(default_factory=list)
    """Tensors of a batch that fewer bytes would hold."""
    faults: Optional[PageFaults] = None
    unused: Sequence[Unused] = ()
    """Tensors of a batch that the step does not read."""
    parts_are_of_samples: bool = False
    """Each part of a batch is made of that part of its samples alone."""

    @property
    def batch_bytes(self) -> float:
        """That a worker sends for a batch."""
        return float(self.contents["bytes"]) if self.contents else 0.0

    def note_unused(self, unused: Sequence[Unused], collate_fn: Any) -> None:
        """The step does not read these tensors, of batches that `collate_fn` makes."""
        self.unused = unused
        self.parts_are_of_samples = collates_each_part(collate_fn)
        if self.contents is not None:
            self.contents["unused_bytes"] = sum(each.bytes for each in unused)

    def note_batch(self, batch: Any, samples: int) -> None:
        """`batch`, of so many samples, is one of the loader's."""
        if self.workers == 0:
            self.sending = sending_cost(batch)
        self.contents = facts.batch_contents(batch)
        self.payload = findings(batch, samples)

    def notes(self) -> list[str]:
        """What the user should know of it."""
        notes = [finding.text for finding in self.payload]
        if self.faults is not None and self.faults.is_much:
            notes.append(self.faults.text())
        if self._dask_outnumbers_cores():
            notes.append(
                f"dask computes with {self.dask_threads} threads in each of {self.workers} workers "
                f"at the same time, on {_cores()} cores"
            )
        return notes

    def lines(self) -> dict[str, str]:
        """Of code, by the ids of remedies that this loader needs."""
        lines = {}
        if self.unused:
            lines[UNUSED] = line_without(self.unused, self.parts_are_of_samples)
        if self.payload:
            lines["fewer_bytes"] = self.payload[0].line
            narrower = [finding.line for finding in self.payload if finding.narrower]
            if narrower:
                lines["narrower"] = narrower[0]
        if self.faults is not None and self.faults.is_much:
            lines[MALLOC] = line_of(MALLOC, f'"{KEEP}"')
        if self._dask_outnumbers_cores():
            lines[DASK_THREADS] = ONE_DASK_THREAD
        return lines

    def _dask_outnumbers_cores(self) -> bool:
        threads = self.dask_threads or 0
        return self.workers > 0 and threads > 1 and self.workers * threads > _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0))
