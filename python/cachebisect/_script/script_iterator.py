"""What a script iterates in place of its DataLoader's own iterator."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._engine.adapter import Adapter, Finished
from .._engine.messages import ConnectionLost
from .._job.pass_through import PASS_MIN_STEPS, PassThrough
from .._job.ranks import rank_and_world

if TYPE_CHECKING:
    from .session import Session

_STEPS_WITHOUT_OPTIMIZER = 200
"""Batches after which a loader is taken although no optimizer of torch has stepped."""


class ScriptIterator(Iterator[Any]):
    """Passes through, then serves blocks. Unknown attributes are those of the script's iterator."""

    def __init__(self, session: Session, loader: Any, original: Callable[[Any], Any]) -> None:
        began = time.monotonic()
        self._own: Iterator[Any] = original(loader)
        opened_seconds = time.monotonic() - began
        self._session = session
        self._loader = loader
        self._number = session.loaders.number_of(loader)
        self._learnt = PassThrough(session.loaders.batches_of(self._number), opened_seconds)
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
        self._session.loaders.note_batches(self._number, self._learnt.steps)
        if batch is PassThrough.OVER:
            raise StopIteration
        return batch

    def _is_training(self) -> bool:
        """True once this is known to be the loader that trains, and enough has passed."""
        session = self._session
        self._entries += 1
        if session.refuses_thread():
            return False
        if session.loaders.wanted is not None:
            return self._number == session.loaders.wanted and self._has_enough()
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
        if max(self._learnt.steps, self._session.optimizer_steps) < PASS_MIN_STEPS:
            return False
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


def _say(text: str) -> None:
    print(f"cachebisect: {text}", file=sys.stderr)
