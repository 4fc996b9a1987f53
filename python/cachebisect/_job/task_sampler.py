"""The batch sampler of a shadow loader: one Task for each batch."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Protocol

from .._worker.tasks import Task


class GivesTasks(Protocol):
    def next_task(self) -> Task:
        """The task of the next batch."""


class TaskSampler:
    """Holds what gives its tasks weakly, or no loader would ever close."""

    def __init__(self, giver: GivesTasks) -> None:
        self._giver = weakref.ref(giver)

    def __iter__(self) -> Iterator[Task]:
        while True:
            giver = self._giver()
            if giver is None:
                return
            task = giver.next_task()
            del giver
            yield task
