"""Makes what measures an iterator of a script: its job, and the adapter that answers for it."""

from __future__ import annotations

import contextlib
from typing import Any, Callable

from .._chain import facts
from .._chain.own_iteration import OwnIteration
from .._engine.adapter import Adapter
from .._engine.messages import Connection
from .._job.job import Job
from .._job.state import KeptState, device_of
from .callers import script_name
from .found_state import FoundState, ModuleTensors
from .loader_hooks import Level
from .script_iterator import ScriptIterator

Context = Callable[[], contextlib.AbstractContextManager[Any]]


def adapter_of(
    connection: Connection,
    iterator: ScriptIterator,
    optimizers: list[Any],
    modules: ModuleTensors,
    unwatched: Context,
) -> Adapter:
    """Measures the loader of `iterator`. `unwatched`: a context for iterators that are ours."""
    state = FoundState(iterator.loader, optimizers, modules)
    kept = KeptState(state.each_round, state.at_end)
    device = device_of(optimizers)
    measured = _as_measured(iterator, unwatched)

    def make_job(writes_batches: bool) -> Job:
        train = ", ".join(["step", *(type(optimizer).__name__ for optimizer in optimizers)])
        return Job(measured, kept, device, writes_batches, script_name(), train)

    adapter = Adapter(connection, make_job)
    adapter.learn(iterator.learnt)
    adapter.notes.append(state.note)
    return adapter


def _as_measured(iterator: ScriptIterator, unwatched: Context) -> Any:
    """The loader, or an iterable of it if only its own class makes what the loop gets."""
    loader = iterator.loader
    by_subclass = iterator.level is Level.SUBCLASS or facts.makes_own_iterator(loader)
    if not by_subclass or facts.adds_only_state(loader):
        return loader
    return OwnIteration(loader, iterator.reopen, unwatched)
