"""Training steps through the untouched loader, before anything is measured."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Optional

from .._chain import tree_sizes, trees
from .._chain.array_devices import untimed
from .._chain.moves import MoveWatch
from .._chain.use_watch import HELD, Unused, UseWatch

PASS_STEPS = 60
PASS_MIN_STEPS = 30
PASS_SECONDS = 3.0
"""Steps through the untouched loader end after PASS_STEPS, or PASS_SECONDS and PASS_MIN_STEPS, or
five times PASS_SECONDS."""


_MIN_RATE_SECONDS = 0.5
_STEADY = 0.2
"""Two halves that differ by more are not of one rate."""


class PassThrough:
    """The first steps, through the loader as it is. Times are those of step ends.

    `before`: steps that have passed through the same loader in earlier epochs. `opened_seconds`:
    what making the iterator took. `samples_per_batch`: what each counts as, if that was given.
    """

    OVER = object()
    """In place of a batch: enough steps have passed."""

    def __init__(
        self,
        before: int = 0,
        opened_seconds: float = 0.0,
        samples_per_batch: Optional[int] = None,
    ) -> None:
        self.samples_per_batch = samples_per_batch
        self._before = before
        self._opened_seconds = opened_seconds
        self._began = time.monotonic()
        self._first_batch_seconds = 0.0
        self._ends: list[float] = []
        self._sizes: list[int] = []
        self._last: Any = None
        self._digest = 0
        self.writes_batches = False
        self.waited_seconds = 0.0
        """For batches, in all."""
        self.batch_bytes = 0
        self.batch_tensors = 0
        self.untimed: Optional[str] = None
        """As array_devices.untimed() says it of the first batches."""
        self.batches_per_step = 1
        """From one optimizer step to the next."""
        self._moves = MoveWatch()
        self._use = UseWatch()

    def next_batch(self, own: Iterator[Any]) -> Any:
        """The next batch, or OVER: `own` has ended, or enough has passed."""
        self.before_batch()
        if self.is_enough():
            return PassThrough.OVER
        try:
            batch = next(own)
        except StopIteration:
            return PassThrough.OVER
        self.after_batch(batch)
        return batch

    def before_batch(self) -> None:
        """A step has ended, or the first is about to begin."""
        self._ends.append(time.monotonic())
        self._moves.stop()
        self._use.before_batch()
        if self._last is not None:
            self.writes_batches |= trees.digest(self._last) != self._digest
            self._last = None

    def after_batch(self, batch: Any) -> None:
        """`batch` is about to be handed over."""
        waited = time.monotonic() - self._ends[-1]
        self.waited_seconds += waited
        if not self._sizes:
            self._first_batch_seconds = waited
        self._sizes.append(self.samples_per_batch or trees.count_samples(batch) or 1)
        if len(self._sizes) <= 2:
            self._last, self._digest = batch, trees.digest(batch)
            self.untimed = untimed(batch)
            self.batch_bytes = tree_sizes.nbytes(batch)
            self.batch_tensors = sum(trees.is_tensor(leaf) for leaf in trees.leaves(batch))
            self._moves.start()
        self._use.after_batch(batch)

    def waited_per_batch(self) -> float:
        """Seconds, without the first batch, which starts the workers."""
        count = len(self._sizes) - 1
        return (self.waited_seconds - self._first_batch_seconds) / count if count > 0 else 0.0

    def rate(self) -> Optional[float]:
        """Samples per second of the later two thirds; None if they are too few to tell, or if the
        two differ: the first steps compile, fill caches and start workers, for some longer than for
        others."""
        steps = min(len(self._sizes), len(self._ends) - 1)
        first = max(2, steps // 3)
        if steps - first < 7 or self._ends[steps] - self._ends[first] < _MIN_RATE_SECONDS:
            return None
        half = (first + steps) // 2
        early, late = self._rate_of(first, half), self._rate_of(half, steps)
        return self._rate_of(first, steps) if abs(late / early - 1) <= _STEADY else None

    def _rate_of(self, first: int, last: int) -> float:
        seconds = self._ends[last] - self._ends[first]
        return sum(self._sizes[first:last]) / max(1e-9, seconds)

    def epoch_start_seconds(self) -> Optional[float]:
        """From the start of the epoch to its first batch; None if there was none."""
        return self._opened_seconds + self._first_batch_seconds if self._sizes else None

    def copies_without_waiting(self) -> Optional[bool]:
        """True if the step moves its batches with non_blocking=True; None if that was not seen."""
        return self._moves.non_blocking()

    def device(self) -> Any:
        """The torch.device that the step moves its batches to; None if that was not seen."""
        return self._moves.device()

    def end_watching(self) -> None:
        """Lets go of the batch that is watched. If that is too early, nothing is known of it."""
        self._use.end()

    def unused(self) -> list[Unused]:
        """Tensors of the batches that no step reads, as far as that is known. Ends watching."""
        found = self._use.unused(self.batch_bytes)
        return found if 2 * self.batches_per_step <= HELD else []

    def notes(self) -> list[str]:
        """What the user should know of these steps."""
        notes = []
        if self.writes_batches:
            notes.append("the step writes into its batches: cached ones are copied")
        if self.batches_per_step > 1:
            notes.append(
                f"the optimizer steps after every {self.batches_per_step} batches: "
                "blocks are whole steps of the optimizer"
            )
        samples = self._sizes[0] if self._sizes else 1
        notes += [found.text(self.batch_bytes, samples) for found in self.unused()]
        return notes

    @property
    def steps(self) -> int:
        """That have passed through the loader, those of earlier epochs included."""
        return self._before + len(self._sizes)

    @property
    def own_steps(self) -> int:
        """Steps of this epoch alone."""
        return len(self._sizes)

    def is_enough(self) -> bool:
        """True if the rate is known well enough, or will not be known soon."""
        steps, seconds = self.steps, time.monotonic() - self._began
        if steps >= PASS_STEPS or seconds > 5 * PASS_SECONDS:
            return True
        return steps >= PASS_MIN_STEPS and seconds > PASS_SECONDS and self.rate() is not None
