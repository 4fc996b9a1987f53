"""Whether a cached sample is that which the dataset makes. Not thread safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._chain import trees
from .._worker.tape import Call, Tape
from .draws import WatchedDraws
from .entry import Entry, NotCacheable
from .examined import RECORDED, Examined, equal

_COMPARED = 3
"""Seed of the samples that those of the cache are held to."""


@dataclass
class Reference:
    """A sample as the dataset makes it now.

    `unsteady`: numbers of the calls that give something else although all draws repeat: a stage
    with a generator of its own, or one that counts.
    """

    examined: Examined
    index: Any
    seed: int
    tape: Tape
    unsteady: set[int]

    def check(self, entry: Entry) -> None:
        """Raises NotCacheable unless `entry` makes the same sample."""
        draws = WatchedDraws(self.seed)

        def make(number: int, stage: int, function: Any, args: Any, kwargs: Any) -> Any:
            if number not in self.unsteady:
                return draws.make(number, stage, function, args, kwargs)
            return trees.clone(self.tape.calls[number].output)

        draws.begin_sample(str(self.index))
        if not self._has_the_calls_of(entry) or not equal(
            entry.sample(self.examined.slots, make), self.tape.sample
        ):
            raise NotCacheable(
                f"sample {self.index} from the cache is not what the dataset makes now: the data "
                "has changed, or what the dataset itself does with the output of a stage (its own "
                "code; mark it with @cachebisect.stage(...) and it runs behind the cache)"
            )

    def _has_the_calls_of(self, entry: Entry) -> bool:
        """Later stages are called as often, with the same, in the same order."""
        calls = self.tape.calls
        first = len(self.examined.names) - len(entry.later)
        if [c.number for c in entry.calls] != [n for n, c in enumerate(calls) if c.stage >= first]:
            return False
        return all(self._is_same(held.stage, held, calls[held.number]) for held in entry.calls)

    def _is_same(self, stage: int, held: Any, now: Call) -> bool:
        return bool(
            stage == now.stage
            and trees.digest((held.args, held.kwargs)) == trees.digest((now.args, now.kwargs))
        )


def reference(examined: Examined, index: Any, frozen: bool) -> Reference:
    """Makes the sample twice. `frozen`: by the draws of the one that was cached.

    Raises what the dataset raises.
    """
    seed = RECORDED if frozen else _COMPARED
    tape, _ = examined.watched(index, seed)
    again, _ = examined.watched(index, seed)
    return Reference(examined, index, seed, tape, _unsteady(tape, again))


def _unsteady(tape: Tape, again: Tape) -> set[int]:
    """Numbers of calls that differ; what is called with their outputs may differ by that alone."""
    same = [
        call.stage == other.stage and trees.digest(call.output) == trees.digest(other.output)
        for call, other in zip(tape.calls, again.calls)
    ]
    return {number for number in range(len(tape.calls)) if number >= len(same) or not same[number]}
