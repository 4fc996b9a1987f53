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
import time
import weakref
from collections.abc import Iterator
from typing import Any, Callable, Optional

from ._adapter import Adapter, Finished
from ._boundary import BoundaryDataset
from ._job import Job
from ._messages import Connection, ConnectionLost, Interrupted
from ._pass_through import PASS_MIN_STEPS, PassThrough
from ._ranks import rank_and_world
from ._seen_loaders import SeenLoaders
from ._state import KeptState, SteppedParameters, device_of

_OFTEN = 0.5
_STEPS_WITHOUT_OPTIMIZER = 200
"""Batches after which a loader is taken although no optimizer of torch has stepped."""
_EXPLAIN_SECONDS = 2.0


class Session:
    """One script and its connection to the engine."""

    def __init__(self, connection: Connection, loaders: Optional[SeenLoaders] = None) -> None:
        self.loaders = loaders or SeenLoaders()
        self.over = False
        self.optimizer_steps = 0
        self.iterations = 0
        """Iterators of all loaders that the script has asked for."""
        self._others_in_steps = False
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
        if all(known() is not optimizer for known in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))

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
        """At the end of the script: tells the engine why the wanted loader was not measured."""
        reason = self.loaders.missing()
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


class ScriptIterator(Iterator[Any]):
    """Passes through, then serves blocks. Unknown attributes are those of the script's iterator."""

    def __init__(self, session: Session, loader: Any, original: Callable[[Any], Any]) -> None:
        began = time.monotonic()
        self._own: Iterator[Any] = original(loader)
        opened_seconds = time.monotonic() - began
        self._session = session
        self._loader = loader
        self._learnt = PassThrough(session.loaders.batches_of(loader), opened_seconds)
        self._steps_seen = session.optimizer_steps
        self._stepped = 0
        self._entries = 0
        self._iterations_before = session.iterations
        self._adapter: Optional[Adapter] = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __len__(self) -> int:
        return len(self._own)  # type: ignore[arg-type]

    def __next__(self) -> Any:
        if not self._session.active:
            return next(self._own)
        measuring = self._adapter is not None
        if not measuring and (self._session.measures or not self._begins()):
            return self._passed()
        return self._measured()

    def _begins(self) -> bool:
        return self._is_training() and self._take_over()

    def others_per_step(self) -> float:
        """Iterators of other loaders that the script asks for in each step."""
        return (self._session.iterations - self._iterations_before) / max(1, self._entries)

    def _passed(self) -> Any:
        batch = self._learnt.next_batch(self._own, ends=False)
        self._session.loaders.note_batches(self._loader, self._learnt.steps)
        if batch is PassThrough.OVER:
            raise StopIteration
        return batch

    def _is_training(self) -> bool:
        """True once this is known to be the loader that trains, and enough has passed."""
        session = self._session
        self._entries += 1
        if session.loaders.wanted is not None:
            number = session.loaders.number_of(self._loader)
            return number == session.loaders.wanted and self._has_enough()
        if session.optimizer_steps > self._steps_seen:
            self._steps_seen = session.optimizer_steps
            self._stepped += 1
        gradients = sys.modules["torch"].is_grad_enabled()
        if self._stepped >= 3:
            return bool(gradients and self._has_enough())
        return (
            gradients and session.optimizer_steps == 0 and self._entries > _STEPS_WITHOUT_OPTIMIZER
        )

    def _has_enough(self) -> bool:
        """All ranks of a distributed job must agree: only their steps do."""
        if rank_and_world()[1] == 1:
            return self._learnt.is_enough()
        session = self._session
        by_number = session.loaders.wanted is not None
        return (self._learnt.steps if by_number else session.optimizer_steps) >= PASS_MIN_STEPS

    def _take_over(self) -> bool:
        try:
            self._adapter = self._session.take_over(self, self._loader, self._learnt)
            return True
        except Exception as error:
            _say(f"not measured: {error}")
            self._session.end()
            return False

    def _measured(self) -> Any:
        adapter = self._adapter
        assert adapter is not None
        try:
            return adapter.next_batch()
        except Interrupted:
            return self._continue(None)
        except Finished as finished:
            return self._continue(finished)
        except ConnectionLost as error:
            _say(f"{error}; training goes on")
            return self._continue(None)

    def _continue(self, finished: Optional[Finished]) -> Any:
        self._adapter = None
        self._session.end()
        if finished is not None and finished.message.get("then") != "continue":
            raise SystemExit(int(finished.message.get("exit_code", 0)))
        return next(self._own)


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


def _say(text: str) -> None:
    print(f"cachebisect: {text}", file=sys.stderr)
