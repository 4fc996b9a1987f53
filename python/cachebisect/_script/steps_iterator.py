"""The loops of a script over the steps of a rank that has no loader. Not thread safe.

The others are held where they ask for a batch; this rank is held where it asks for its next step,
so that whatever they do together between two steps is done by all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from .._engine.adapter import Adapter, Finished
from .._engine.messages import ConnectionLost
from .._job.pass_through import PASS_MIN_STEPS
from .._job.rank_without_loader import RankWithoutLoader
from .._job.ranks import rank_and_world
from .._job.state import KeptState, device_of_step
from .found_state import FoundState, ModuleTensors
from .measuring import MeasuringSteps
from .script_iterator import say

if TYPE_CHECKING:
    from .session import Session

_END = object()


class StepLoops:
    """What cachebisect.steps() gives in a script that is measured."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._measured: Optional[StepsIterator] = None

    def iterator(self, own: Iterator[Any]) -> Iterator[Any]:
        """In place of `own`. The next epoch of a loop that is measured goes on being it."""
        measured = self._measured
        if measured is not None and measured.begin_epoch(own):
            return measured
        if self._session.active:
            self._measured = StepsIterator(self._session, own)
            return self._measured
        return own


class StepsIterator(Iterator[Any]):
    """Passes through, then takes the steps of blocks."""

    def __init__(self, session: Session, own: Iterator[Any]) -> None:
        self._session = session
        self._own = own
        self._adapter: Optional[Adapter] = None
        self._steps_before = session.optimizer_steps
        self._modules: Optional[ModuleTensors] = None
        self._next: Any = None
        """While measuring: the script's next item, or _END."""
        self._item: Any = None

    def __next__(self) -> Any:
        session = self._session
        if self._adapter is None and session.active:
            session.end_if_failed()
            session.guard.observe(self._begin)
        if self._adapter is None:
            self._item = next(self._own)
            return self._item
        return self._measured(self._adapter)

    def begin_epoch(self, own: Iterator[Any]) -> bool:
        """The script begins another loop. False if this one is not measured."""
        if self._adapter is None or not self._session.active:
            return False
        self._adapter.disturb(on_all_ranks=True)
        self._own, self._next = own, next(own, _END)
        return True

    def _begin(self) -> None:
        """Begins to measure at the step at which ranks with loaders do."""
        session, steps = self._session, self._session.optimizer_steps
        after_step = steps > self._steps_before
        self._steps_before = steps
        if not after_step or session.measures or rank_and_world()[1] == 1:
            return
        session.late.note_candidate(steps)
        self._modules = self._modules or ModuleTensors()
        if steps >= PASS_MIN_STEPS:
            self._take_over(self._modules)

    def _take_over(self, modules: ModuleTensors) -> None:
        session = self._session
        optimizers = session.optimizers
        state = FoundState([], optimizers, modules)
        kept = KeptState((), state.each_round, state.at_end)
        device = device_of_step(None, optimizers)
        adapter = Adapter(session.connection, lambda _writes: RankWithoutLoader(kept, device))
        adapter.notes.append(state.note)
        try:
            session.begin(MeasuringSteps(adapter))
        except ConnectionLost as error:
            say(f"not measured: {error}")
            session.end()
            return
        self._adapter = adapter
        # A script that goes on keeps all its steps for training.
        self._next = next(self._own, _END) if session.ends_script else self._item

    def _measured(self, adapter: Adapter) -> Any:
        try:
            if self._next is _END and adapter.may_end_epoch():
                raise StopIteration
            adapter.next_batch()
        except StopIteration:
            raise
        except Finished as finished:
            return self._continue(finished)
        except Exception as error:
            say(f"{error}; training goes on")
            return self._continue(None)
        if self._session.ends_script and self._next is not _END:
            self._item, self._next = self._next, next(self._own, _END)
        return self._item

    def _continue(self, finished: Optional[Finished]) -> Any:
        self._adapter = None
        ahead, self._next = self._next, None
        peeked = self._session.ends_script
        self._session.end()
        if finished is not None and finished.message.get("then") != "continue":
            raise SystemExit(int(finished.message.get("exit_code", 0)))
        if not peeked:
            return next(self._own)
        if ahead is _END:
            raise StopIteration
        return ahead
