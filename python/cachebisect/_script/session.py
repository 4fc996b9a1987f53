"""Measures the loader of a script that is not changed.

`DataLoader.__iter__` returns a ScriptIterator, which passes through until the training loader is
known: batches of it lie between optimizer steps, with gradients enabled. From then on it serves the
blocks that the engine asks for, and the script's own iterator waits. Any error of ours before that
leaves training as it was. Everything runs in the thread that trains.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable, Optional

from .._engine.adapter import Adapter
from .._engine.messages import Connection, ConnectionLost
from .._job.job import Job
from .._job.pass_through import PassThrough
from .._job.state import KeptState, SteppedParameters, device_of
from .._worker.boundary import BoundaryDataset
from .script_iterator import ScriptIterator
from .seen_loaders import SeenLoaders

_OFTEN = 0.5
_EXPLAIN_SECONDS = 2.0
_READ_IN_ADVANCE = (
    "a thread of the script reads the batches in advance, so that the time of a step says nothing "
    "about the loader; iterate the DataLoader in the thread that trains"
)


class Session:
    """One script and its connection to the engine."""

    def __init__(self, connection: Connection, loaders: Optional[SeenLoaders] = None) -> None:
        self.loaders = loaders or SeenLoaders()
        self.over = False
        self.optimizer_steps = 0
        self.iterations = 0
        """Iterators of all loaders that the script has asked for."""
        self._others_in_steps = False
        self._stepping_thread: Optional[int] = None
        self._refusal: Optional[str] = None
        self._pid = os.getpid()
        self._connection = connection
        self._optimizers: list[weakref.ref[Any]] = []
        self._adapter: Optional[Adapter] = None
        self._measured: Optional[weakref.ref[Any]] = None
        self._taken: Optional[ScriptIterator] = None

    @property
    def active(self) -> bool:
        """False in forked children, in workers and after the end."""
        return not self.over and os.getpid() == self._pid

    @property
    def measures(self) -> bool:
        """True while a loader is measured; all others then belong to the step."""
        return self._adapter is not None

    def note_step(self, optimizer: Any) -> None:
        """An optimizer has stepped."""
        self.optimizer_steps += 1
        self._stepping_thread = threading.get_ident()
        if all(known() is not optimizer for known in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))

    def refuses_thread(self) -> bool:
        """True in a thread that reads batches in advance for the one that trains.

        Blocks would time the thread, and SystemExit would end it instead of the script.
        """
        if threading.current_thread() is threading.main_thread():
            return False
        if threading.get_ident() == self._stepping_thread:
            return False
        self._refusal = _READ_IN_ADVANCE
        return True

    def iterator(self, loader: Any, original: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """What the script iterates in place of `original(loader)`."""
        if not self.active or isinstance(loader.dataset, BoundaryDataset):
            return original(loader)
        if self._adapter is None:
            self.iterations += 1
            return ScriptIterator(self, loader, original)
        if self._taken is not None and self._measured is not None and self._measured() is loader:
            self._adapter.disturb(on_all_ranks=True)
            return self._taken
        if not self._others_in_steps:
            self._adapter.disturb(on_all_ranks=False)
        return original(loader)

    def take_over(self, iterator: ScriptIterator, loader: Any, learnt: PassThrough) -> Adapter:
        """Begins to measure `loader`. Raises ConnectionLost, Finished."""
        self._others_in_steps = iterator.others_per_step() > _OFTEN
        found = [optimizer for known in self._optimizers if (optimizer := known()) is not None]
        state = [SteppedParameters(optimizer) for optimizer in found]
        kept, device = KeptState(state), device_of(state)

        def make_job(writes_batches: bool) -> Job:
            train = ", ".join(["step", *(type(optimizer).__name__ for optimizer in found)])
            name = os.path.basename(sys.argv[0]) if sys.argv else "script"
            return Job(loader, kept, device, writes_batches, name, train)

        adapter = Adapter(self._connection, make_job)
        adapter.learn(learnt)
        if self._others_in_steps:
            adapter.notes.append("another loader is read in each step: that is part of the step")
        if state:
            adapter.notes.append(
                "restored between rounds: parameters of the optimizers, no buffers"
            )
        if not adapter.greet():
            raise ConnectionLost("the engine chose another process")
        self._adapter, self._taken = adapter, iterator
        atexit.register(self._end_with_script)
        self._measured = weakref.ref(loader)
        return adapter

    def explain(self) -> None:
        """At the end of the script: tells the engine why no loader was measured, if it is known."""
        reason = self.loaders.missing() or self._refusal
        if not self.active or self._adapter is not None or reason is None:
            return
        with contextlib.suppress(ConnectionLost):
            self._connection.limit_waiting(_EXPLAIN_SECONDS)
            self._connection.answer_error(self._connection.next_request(), "usage", reason)

    def _end_with_script(self) -> None:
        if self.active and self._adapter is not None:
            self._adapter.end_with_script(getattr(sys, "last_value", None))
            self.end()

    def end(self) -> None:
        """Gives training back to the script."""
        self.over = True
        adapter, self._adapter, self._taken = self._adapter, None, None
        if adapter is not None:
            adapter.close()
        self._connection.close()


def install(session: Session, dataloader: Any) -> None:
    """Patches the DataLoader class of the module `dataloader` (torch.utils.data.dataloader)."""
    original: Callable[[Any], Iterator[Any]] = dataloader.DataLoader.__iter__

    def __iter__(self: Any) -> Iterator[Any]:
        return session.iterator(self, original)

    dataloader.DataLoader.__iter__ = __iter__


def watch_optimizers(session: Session, optimizer_module: Any) -> None:
    """Counts the steps of every torch optimizer. `optimizer_module`: torch.optim.optimizer."""
    register = getattr(optimizer_module, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(lambda optimizer, _args, _kwargs: session.note_step(optimizer))
