"""Makes what measures an iterator of a script: its job, and the adapter that answers for it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable

from .._chain import facts
from .._chain.callers import script_name
from .._chain.own_iteration import OwnIteration
from .._chain.shared_stream import SharedStream
from .._engine.adapter import Adapter
from .._engine.messages import Connection
from .._follow.loaders import Level
from .._job.companions import Companion
from .._job.job import Job
from .._job.state import KeptState, device_of_step
from .found_state import FoundState, ModuleTensors
from .loaders_of_step import companions_of
from .measuring import Measuring
from .script_iterator import ScriptIterator

if TYPE_CHECKING:
    from .session import Session

_KEEPS = (
    "the script's iterator cannot be opened twice: each batch that is measured is copied, and "
    "training gets it afterwards"
)
Context = Callable[[], contextlib.AbstractContextManager[Any]]


class Measured:
    """The loader of `iterator`. `companions`: the others that each step reads. `unwatched`: a
    context for iterators that are ours."""

    def __init__(
        self,
        iterator: ScriptIterator,
        state: FoundState,
        optimizers: list[Any],
        companions: list[Companion],
        unwatched: Context,
    ) -> None:
        self._iterator = iterator
        self._state = state
        self._optimizers = optimizers
        self._companions = companions
        self._unwatched = unwatched

    def adapter(self, connection: Connection) -> Adapter:
        """What answers the engine."""
        adapter = Adapter(connection, self._job)
        adapter.learn(self._iterator.learnt)
        adapter.notes.append(self._state.note)
        adapter.notes += self._iterator.needs()
        if self._keeps():
            adapter.notes.append(_KEEPS)
        for companion in self._companions:
            adapter.notes.append(f"{companion.name} is read in each step, too: a stage of its own")
        return adapter

    def _job(self, writes_batches: bool) -> Job:
        return Job(
            self._loader(),
            KeptState((), self._state.each_round, self._state.at_end),
            device_of_step(self._iterator.learnt.device(), self._optimizers),
            writes_batches or self._keeps(),
            script_name(),
            ", ".join(["step", *(type(optimizer).__name__ for optimizer in self._optimizers)]),
            companions=self._companions,
            samples_per_batch=self._iterator.learnt.samples_per_batch,
        )

    def _keeps(self) -> bool:
        """True if each batch that is measured is copied, to be given to training later."""
        stream = getattr(self._iterator.loader, "stream", None)
        return isinstance(stream, SharedStream) and stream.keeps

    def _loader(self) -> Any:
        """The loader, or an iterable of it if only its own class makes what the loop gets."""
        iterator = self._iterator
        if iterator.level is Level.NAMED:
            return OwnIteration(iterator.loader, iterator.reopen, self._unwatched)
        by_subclass = iterator.level is Level.SUBCLASS or facts.makes_own_iterator(iterator.loader)
        if not by_subclass or facts.adds_only_state(iterator.loader):
            return iterator.loader
        return OwnIteration(iterator.loader, iterator.reopen, self._unwatched)


def measuring_of(session: Session, iterator: ScriptIterator) -> Measuring:
    """Measures the loader of `iterator`, and the others that each step reads."""
    others = session.loaders_of_step.others(iterator)
    companions = companions_of(others, session.loaders, session.threads.unwatched)
    loaders = [one.loader for one in (iterator, *others)]
    optimizers = session.optimizers
    state = FoundState(loaders, optimizers, session.modules or ModuleTensors())
    measured = Measured(iterator, state, optimizers, companions, session.threads.unwatched)
    adapter = measured.adapter(session.connection)
    in_step = session.loaders_of_step.in_step_with(iterator)
    return Measuring(adapter, iterator, list(zip(others, companions)), in_step)
