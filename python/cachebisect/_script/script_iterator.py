"""What a script iterates in place of its DataLoader's own iterator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._engine.adapter import Adapter, Finished
from .._engine.messages import ConnectionLost
from .._follow.loaders import Level
from .._job.needs import needs_of
from .._job.pass_through import PASS_MIN_STEPS, PassThrough
from .._job.ranks import rank_and_world
from .._worker.worker_end import end_workers
from .epoch import Epoch, length_of_epoch

if TYPE_CHECKING:
    from .session import Session

_STEPS_WITHOUT_OPTIMIZER = 200
"""Batches after which a loader is taken although no optimizer of torch has stepped."""


class ScriptIterator(Iterator[Any]):
    """Passes through, then serves blocks. Unknown attributes are those of the script's iterator.

    `own`: that iterator. `reopen`: makes another one. What goes wrong before blocks are served
    leaves the loop as it is.
    """

    def __init__(
        self,
        session: Session,
        loader: Any,
        own: Iterator[Any],
        opened_seconds: float,
        level: Level,
        reopen: Callable[[], Iterator[Any]],
    ) -> None:
        self._own = own
        self._session = session
        self.loader = loader
        self.level = level
        self.reopen = reopen
        self.number = session.loaders.number_of(loader)
        self.learnt = PassThrough(
            session.loaders.batches_of(self.number), opened_seconds, session.samples_per_batch
        )
        # The pattern is that of the loader: epochs may have one batch.
        steps = session.optimizer_steps
        self.has_ended = False
        self.pattern = session.loaders.pattern_of(self, steps)
        self._entries_before = self.pattern.entries
        self.trains = False
        """Its last batch was asked for with gradients enabled."""
        self.holds_another = False
        """Batches of another DataLoader become those of this one, in the same thread."""
        self.is_inner = False
        """Its batches become those of another iterator."""
        self.epoch: Optional[Epoch] = None
        """The epoch of the script, once this iterator has been taken."""
        self._iterations_before = session.iterations
        self._adapter: Optional[Adapter] = None
        self._is_released = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __len__(self) -> int:
        return len(self._own)  # type: ignore[arg-type]

    def __next__(self) -> Any:
        session = self._session
        if self.epoch is not None and self.epoch.is_over() and self._epoch_ends():
            raise StopIteration
        if not session.active:
            return self._own_batch_of_epoch()
        if self._adapter is not None:
            return self._measured()
        session.end_if_failed()
        if session.measures:
            return session.batch_while_measuring(self)
        if session.guard.observe(self._begins):
            return next(self)  # Its epoch may be over.
        return self._passed()

    def others_per_step(self) -> float:
        """Iterators of other loaders that the script asks for in each step."""
        opened = self._session.iterations - self._iterations_before
        return opened / max(1, self.pattern.entries - self._entries_before)

    def opened_per_batch(self) -> float:
        """Iterators of this loader that the script asks for, per batch."""
        opened = self._session.loaders.opened(self.number, self.level)
        return opened / max(1, self.pattern.entries)

    def needs(self) -> list[str]:
        """What measuring this loader takes, if it is much."""
        learnt = self.learnt
        return needs_of(self.loader, self._own, learnt.batch_bytes, learnt.batch_tensors)

    def own_batch(self) -> Any:
        """The next batch of the script's own iterator. Raises what the loader raises."""
        with self._session.threads.pulling(self):
            return next(self._own)

    def _epoch_ends(self) -> bool:
        """False while a block is measured that is longer than an epoch."""
        adapter = self._adapter
        if adapter is None:
            return True
        try:
            return adapter.may_end_epoch()
        except ConnectionLost:  # The next batch says so.
            return False

    def _own_batch_of_epoch(self) -> Any:
        """The same, where measured batches of this epoch may lie before it."""
        batch = next(self._own)
        if self.epoch is not None:
            self.epoch.note_batch()
        return batch

    def _passed(self) -> Any:
        guard = self._session.guard
        guard.observe(self.learnt.before_batch)
        try:
            batch = self.own_batch()
        except StopIteration:
            guard.observe(self._note_end)
            raise
        guard.observe(self._note_batch, batch)
        return batch

    def _note_end(self) -> None:
        self.has_ended = True
        self.learnt.end_watching()
        self._session.loaders.note_end(self.loader, self.level, self.learnt.own_steps)

    def _note_batch(self, batch: Any) -> None:
        self.learnt.after_batch(batch)
        self._session.loaders.note_batches(self.number, self.learnt.steps)

    def _begins(self) -> bool:
        session = self._session
        if not self._is_training():
            return False
        chosen = session.loaders.wanted is not None or session.loaders_of_step.chooses(self)
        return chosen and self._take_over()

    def _is_training(self) -> bool:
        """True once this is known to be a loader that trains, and enough has passed."""
        session, pattern = self._session, self.pattern
        if "torch" not in sys.modules:
            session.refuse_without_torch(self)
            return False
        pattern.enter(session.optimizer_steps)
        session.note_puller(self)
        self.trains = sys.modules["torch"].is_grad_enabled()
        if session.refuses_thread(self) or not session.loaders_of_step.may_choose(self):
            return False
        if session.loaders.wanted is not None:
            return self.number == session.loaders.wanted and self._has_enough()
        if not self.trains:
            return False
        if pattern.stepped >= 3:
            return self._has_enough()
        without_optimizer = session.optimizer_steps == 0 and session.has_computed_gradients
        return without_optimizer and pattern.entries > _STEPS_WITHOUT_OPTIMIZER

    def _has_enough(self) -> bool:
        """All ranks of a distributed job must agree: only their steps do."""
        session, pattern = self._session, self.pattern
        if max(self.learnt.steps, session.optimizer_steps) < PASS_MIN_STEPS:
            return False
        if pattern.batches_per_step() > 1 and not pattern.in_phase:
            return False
        if rank_and_world()[1] == 1:
            return self.learnt.is_enough()
        by_number = session.loaders.wanted is not None
        return (self.learnt.steps if by_number else session.optimizer_steps) >= PASS_MIN_STEPS

    def _take_over(self) -> bool:
        self.learnt.batches_per_step = self.pattern.batches_per_step()
        try:
            length = self._length_of_epoch()
            self._adapter = self._session.take_over(self)
            self.epoch = Epoch(length, self.learnt.own_steps)
        except ConnectionLost as error:
            say(f"not measured: {error}")
            self._session.end()
        if self._adapter is not None and self._session.ends_script:
            self._release()
        return self._adapter is not None

    def _length_of_epoch(self) -> Optional[int]:
        """None while measuring: a script that goes on keeps all its epochs for training."""
        if not self._session.ends_script:
            return None
        seen = self._session.loaders.ended_after(self.loader, self.level)
        return length_of_epoch(self.loader, seen, self.is_inner)

    def _release(self) -> None:
        """Ends the workers of the script's own iterator, and frees what they had prefetched: the
        script will not come back to it, unless measuring fails. Persistent ones would not begin
        again."""
        if self.level is Level.NAMED:  # It may be what is measured.
            return
        persistent = getattr(self.loader, "persistent_workers", False)
        if getattr(self._own, "_workers", None) and not persistent:
            end_workers(self._own)
            self._is_released = True

    def _measured(self) -> Any:
        adapter = self._adapter
        assert adapter is not None
        assert self.epoch is not None
        try:
            batch = adapter.next_batch()
            self.epoch.note_batch()
            return batch
        except Finished as finished:
            return self._continue(finished)
        except Exception as error:
            say(f"{error}; training goes on")
            return self._continue(None)

    def _continue(self, finished: Optional[Finished]) -> Any:
        self._adapter = None
        self._session.end()
        if finished is not None and finished.message.get("then") != "continue":
            raise SystemExit(int(finished.message.get("exit_code", 0)))
        if self._is_released:
            self._own = self.reopen()
        return self._own_batch_of_epoch()


def say(text: str) -> None:
    """On standard error."""
    print(f"cachebisect: {text}", file=sys.stderr)
