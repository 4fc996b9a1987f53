"""The iterator that a training loop pulls its batches from while it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from ._engine.adapter import Adapter, Finished
from ._engine.messages import Interrupted, Message
from ._job.pass_through import PassThrough
from ._worker.worker_end import end_workers


class Proxy(Iterator[Any]):
    """Stands where the loader's iterator was.

    `own`: the untouched loader's iterator, which serves the first steps. They give the rate that
    the shadow loader must reach, and tell whether the step writes into its batches. `ends_own`: its
    workers end then. `passed`: takes note of the first steps.
    """

    def __init__(
        self,
        adapter: Adapter,
        own: Iterator[Any],
        ends_own: bool = False,
        passed: Optional[PassThrough] = None,
    ) -> None:
        self._adapter = adapter
        self._ends_own = ends_own
        self._own: Optional[Iterator[Any]] = own
        self._pass = passed or PassThrough()
        self.finish: Optional[Message] = None
        """The engine's last message, once the loop has ended."""

    def __next__(self) -> Any:
        try:
            if self._own is not None:
                with self._adapter.interruptible():
                    batch = self._pass.next_batch(self._own)
                if batch is not PassThrough.OVER:
                    return batch
                self.end_own()
                self._adapter.learn(self._pass)
            return self._adapter.next_batch()
        except Interrupted as error:
            self._adapter.fail(error)
            self.finish = self._adapter.wait_for_finish()
            raise StopIteration from None
        except Finished as finished:
            self.finish = finished.message
            raise StopIteration from None

    def end_own(self) -> None:
        """Lets go of the untouched loader's iterator."""
        own, self._own = self._own, None
        if self._ends_own:
            end_workers(own)
