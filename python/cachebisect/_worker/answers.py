"""What a worker tells of its dataset when it is asked, in place of a batch. Not thread safe."""

from __future__ import annotations

from typing import Any, Union

from .._chain import facts, trees
from .._chain.slots import Slot
from .._chain.sources import IndexedSource, IterableSource
from .dask_threads import used_threads
from .inside import look_inside
from .probe import probe
from .storage_counts import count_storage
from .tasks import INSIDE, PROBE, STORAGE, SharedArea, Task

ANSWERS = (PROBE, INSIDE, STORAGE)
"""Modes of tasks that ask."""

_STREAM_SAMPLES = 3
"""That tell whether workers give the same ones."""


def answer(
    task: Task,
    dataset: Any,
    source: Union[IndexedSource, IterableSource],
    members: list[Slot],
    area: SharedArea,
    worker: int,
) -> Any:
    """The answer to `task`, whose mode is one of ANSWERS; Stale if nobody waits for it any more.

    Raises what the dataset raises.
    """
    if task.mode == PROBE:
        found = probe(dataset, source.makers(task.indices), restart=source.restart)
        stream = source.first_samples(_STREAM_SAMPLES) if area.rows > 1 else []
        return {
            **found,
            "threads": facts.worker_threads(),
            "dask_threads": used_threads(),
            "worker": worker,
            "stream": [trees.digest(sample) for sample in stream],
        }
    if task.mode == STORAGE:
        return count_storage(source, task.indices, worker, lambda: area.is_current(task))
    makers = [make for each in task.indices for make in source.makers(each)]
    return look_inside(dataset, makers, members, source.restart)
