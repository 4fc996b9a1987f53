"""The processes of a pipeline of Grain: another set of them, which runs one arm at a time.

Not thread safe.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from .._chain.grain_graph import GrainGraph, copied, shards_of, with_work
from .._chain.own_iteration import Context
from .grain_control import END, FACTS, FILL, PAUSE, Control

if TYPE_CHECKING:
    from .grain_served import Facts

_END_SECONDS = 2.0
"""What processes may take to end."""


class GrainWorkers:
    """As many as those of `graph`, which work on the same. `around`: a context for what opens their
    iterator. They start with the first batch."""

    def __init__(self, graph: GrainGraph, around: Context) -> None:
        from .grain_served import Served

        self._control = Control()
        self._kept: dict[int, deque[Any]] = {}
        """Batches that were made for an arm when another one began."""
        shards = shards_of(graph.processes)
        self.count = len(shards)
        served = [with_work(shard, Served(graph.inside[-1], self._control)) for shard in shards]
        is_one = graph.processes is shards[0]
        self._dataset = served[0] if is_one else copied(graph.processes, [], _datasets=served)
        self._around = around
        self._iterator: Any = None

    def next(self, code: int, limit: int = 0) -> Any:
        """The next batch of what `code` says. Raises what the processes raise, RuntimeError if one
        has died."""
        kept = self._kept.setdefault(code, deque())
        self._control.write(code, limit)
        if kept:
            return kept.popleft()
        while True:
            made, _, batch = self._take()
            if made == code:
                return batch
            self._keep(made, batch)

    def facts(self) -> list[Facts]:
        """What each process has kept. Raises as next()."""
        self._control.write(FACTS)
        found: list[Facts] = []
        while len(found) < self.count:
            made, facts, batch = self._take()
            if made == FACTS:
                found.append(pickle.loads(facts))
            else:
                self._keep(made, batch)
        self.pause()
        return found

    def _keep(self, code: int, batch: Any) -> None:
        if code not in (FACTS, FILL):
            self._kept.setdefault(code, deque()).append(batch)

    def _take(self) -> Any:
        if self._iterator is None:
            with self._around():
                self._iterator = self._dataset.__iter__()
        return next(self._iterator)

    def pause(self) -> None:
        """Nothing is made until more is asked for."""
        self._control.write(PAUSE)

    def close(self) -> None:
        """Ends the processes."""
        iterator, self._iterator = self._iterator, None
        self._kept.clear()
        self._control.write(END)
        if iterator is not None:
            _close(iterator)
        self._control.close()


def _close(iterator: Any) -> None:
    """Grain waits long for a process that does not end: it is ended then."""

    def close() -> None:
        with contextlib.suppress(Exception):  # Nobody waits for what it would give.
            iterator.close()

    processes = _processes_of(iterator)
    closing = threading.Thread(target=close, name="cachebisect-close", daemon=True)
    closing.start()
    closing.join(_END_SECONDS)
    if not closing.is_alive():
        return
    for process in processes:
        with contextlib.suppress(ValueError):  # It has ended, and was let go of.
            process.kill()
    closing.join(_END_SECONDS)


def _processes_of(iterator: Any) -> list[Any]:
    found, waiting = [], [iterator]
    while waiting:
        inside = getattr(waiting.pop(), "__dict__", {})
        found.append(inside.get("_prefetch_process"))
        near = [*inside.get("_parents", ()), *inside.get("_iterators_in_use", ())]
        waiting += [part for part in near if part is not None]
    return [process for process in found if process is not None]
