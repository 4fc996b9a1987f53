"""Measures the loader of a script that is not changed.

Every iterator of a DataLoader is a ScriptIterator, which passes through until the training loader
is known: batches of it lie between optimizer steps, with gradients enabled. From then on it serves
the blocks that the engine asks for, and the script's own iterator waits. Any error of ours before
that leaves training as it was. Everything runs in the thread that trains.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any, Optional

from .._chain.named_source import how_to_reopen
from .._engine.adapter import Adapter
from .._engine.messages import Connection, ConnectionLost
from .._follow.loaders import Level, Open
from .._follow.named_iterator import NamedIterator
from .._worker.boundary import BoundaryDataset
from . import refusals
from .checkpoints import Checkpoints
from .found_state import ModuleTensors
from .guard import Guard
from .loaders_of_step import LoadersOfStep
from .measured import measuring_of
from .measuring import Measuring
from .script_iterator import ScriptIterator, say
from .seen_loaders import SeenLoaders
from .telling import exit_if_told, tell_engine
from .threads import SteppingThread, ThreadStates
from .training_child import StepsOfChild


class Session:
    """One script and its connection to the engine. `protects`: what measured steps save is kept
    away from the script's own checkpoints. `samples_per_batch`: what each batch counts as, if that
    was given. `ends_script`: it does not go on after it was measured. `named`: by --iterator."""

    def __init__(
        self,
        connection: Connection,
        loaders: Optional[SeenLoaders] = None,
        protects: bool = True,
        samples_per_batch: Optional[int] = None,
        ends_script: bool = False,
        named: Optional[NamedIterator] = None,
    ) -> None:
        self.ends_script = ends_script
        self.samples_per_batch = samples_per_batch
        self.loaders = loaders or SeenLoaders()
        self.guard = Guard()
        self.threads = ThreadStates()
        self.over = False
        self.optimizer_steps = 0
        self.has_computed_gradients = False
        self.iterations = 0
        """Iterators of all loaders that the script has asked for."""
        self.modules: Optional[ModuleTensors] = None
        self.named = named
        self.loaders_of_step = LoadersOfStep(named is not None)
        self._checkpoints = Checkpoints()
        self._protects = protects
        self.late = refusals.LateAnswer(named)
        self._stepping_thread = SteppingThread()
        self._pid = os.getpid()
        self._steps_of_child = StepsOfChild()
        self.connection = connection
        self._optimizers: list[weakref.ref[Any]] = []
        self._measuring: Optional[Measuring] = None

    @property
    def active(self) -> bool:
        """False in forked children, in workers and after the end."""
        return not self.over and os.getpid() == self._pid

    @property
    def measures(self) -> bool:
        """True while a loader is measured; all others then belong to the step."""
        return self._measuring is not None

    # What the script does

    def note_step(self, optimizer: Any) -> None:
        """An optimizer has stepped. Raises SystemExit if the engine ends a script that it cannot
        measure."""
        if os.getpid() != self._pid:
            if not self.over:
                self._steps_of_child.note()
        elif self.active and self._measuring is None:
            self.guard.observe(self._count_step, optimizer)
            self.end_if_failed()
        elif self.active and self._measuring is not None and self._measuring.is_left():
            finish = self._measuring.leave()
            self.end()
            exit_if_told(finish)

    def _count_step(self, optimizer: Any) -> None:
        self.optimizer_steps += 1
        if self.named is not None and self.optimizer_steps == 1:
            self.named.look_at_last()
        self._stepping_thread.note_step()
        if all(known() is not optimizer for known in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))
        if self.loaders.wanted is None and self.late.is_due(self.optimizer_steps):
            self.refuse("usage", self.late.reason(self.optimizer_steps, self.loaders))

    def note_puller(self, iterator: ScriptIterator) -> None:
        """A batch of `iterator` is asked for."""
        outer = self.threads.puller()
        if self._stepping_thread.is_another():
            return
        if outer is not None and outer is not iterator:
            outer.holds_another = iterator.is_inner = True
        self.loaders_of_step.note(iterator)
        if self.modules is None and iterator.pattern.stepped == 1:
            self.modules = ModuleTensors()
        if sys.modules["torch"].is_grad_enabled() and self.loaders_of_step.may_choose(iterator):
            self.late.note_candidate(self.optimizer_steps)

    def refuses_thread(self, iterator: ScriptIterator) -> bool:
        """True in a thread that reads batches in advance for the one that trains.

        Blocks would time the thread, and SystemExit would end it instead of the script.
        """
        if not self._stepping_thread.is_another():
            return False
        self.late.note_thread(iterator.loader)
        return True

    # Iterators

    def opens(self, loader: Any) -> bool:
        """True while an iterator of `loader` is being made by what is watched."""
        return self.threads.opens(loader) or self.threads.is_unwatched

    def iterator(self, loader: Any, original: Open, level: Level) -> Iterator[Any]:
        """What the script iterates in place of `original(loader)`. Raises what that raises."""
        if not self.guard.observe(self._sees, loader):
            return original(loader)
        if self._measuring is not None:
            return self._measuring.iterator(loader, original, level)
        began = time.monotonic()
        with self.threads.opening(loader):
            own = original(loader)
        seconds = time.monotonic() - began
        if isinstance(own, ScriptIterator) and level is not Level.NAMED:
            return own
        made = self.guard.observe(self._wrap, loader, own, seconds, level, original)
        return own if made is None else made

    def _sees(self, loader: Any) -> bool:
        if not self.active or self.threads.hides(loader):
            return False
        return not isinstance(loader.dataset, BoundaryDataset)

    def _wrap(
        self, loader: Any, own: Iterator[Any], seconds: float, level: Level, original: Open
    ) -> ScriptIterator:
        self.iterations += 1
        reopen = how_to_reopen(loader, own, original)
        return ScriptIterator(self, loader, own, seconds, level, reopen)

    def batch_while_measuring(self, iterator: ScriptIterator) -> Any:
        """A batch of an iterator that is not the one that is measured."""
        measuring = self._measuring
        if measuring is None or self.threads.is_unwatched:
            return iterator.own_batch()
        return measuring.batch(iterator)

    # Measuring

    def take_over(self, iterator: ScriptIterator) -> Adapter:
        """Begins to measure the loader of `iterator`. Raises ConnectionLost."""
        measuring = measuring_of(self, iterator)
        self.begin(measuring)
        return measuring.adapter

    @property
    def optimizers(self) -> list[Any]:
        """Those that have stepped."""
        return [found for known in self._optimizers if (found := known()) is not None]

    def begin(self, measuring: Measuring) -> None:
        """Measures from here on. Raises ConnectionLost."""
        if not measuring.adapter.greet():
            raise ConnectionLost("the engine chose another process")
        self._measuring = measuring
        if self._protects:
            self._checkpoints.start()
            measuring.adapter.not_kept = self._checkpoints.new
        atexit.register(self._end_with_script)

    # The end

    def refuse_without_torch(self, iterator: ScriptIterator) -> None:
        """A batch is asked for in a script that has not imported torch."""
        if reason := self.late.without_torch(iterator.learnt):
            self.refuse("usage", reason)

    def end_if_failed(self) -> None:
        """If our own code has failed: tells the engine. Raises SystemExit if that ends the
        script."""
        if self.guard.failure is not None:
            self.refuse("internal", self.guard.failure)

    def refuse(self, kind: str, reason: str) -> None:
        """Tells the engine why nothing is measured. Raises SystemExit if that ends the script."""
        finish = tell_engine(self.connection, kind, reason)
        self.end()
        if finish is None:
            say(f"not measured: {reason}")
        exit_if_told(finish)

    def explain(self) -> None:
        """At the end of the script: tells the engine why no loader was measured, if it is known."""
        if not self.active or self._measuring is not None:
            return
        if self.guard.failure is not None:
            tell_engine(self.connection, "internal", self.guard.failure)
        elif reason := self.guard.observe(self._reason_at_end):
            tell_engine(self.connection, "usage", reason)
        self.end()

    def _reason_at_end(self) -> Optional[str]:
        missing = self.loaders.missing()
        return missing or self.late.reason_at_end(self.optimizer_steps, self.loaders)

    def _end_with_script(self) -> None:
        if self.active and self._measuring is not None:
            self._measuring.adapter.end_with_script(getattr(sys, "last_value", None))
            self.end()

    def end(self) -> None:
        """Gives training back to the script."""
        self.over = True
        measuring, self._measuring = self._measuring, None
        if measuring is not None:
            try:
                measuring.adapter.close()
            except Exception as error:
                say(f"what measuring kept was not restored: {type(error).__name__}: {error}")
        saved = self._checkpoints.stop()
        if saved is not None:
            say(saved)
        self.connection.close()
