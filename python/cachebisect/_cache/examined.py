"""Which stages of a dataset give the same in every epoch.

Makes a few samples in this process, several times each. Not thread safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from .._chain import trees
from .._worker.draws import GLUE
from .._worker.probe import planned_slots, probe
from .._worker.recording import record, settled
from .._worker.tape import Copies, Tape
from .draws import WatchedDraws
from .entry import NotCacheable

SAMPLES = 8

RECORDED = 1
"""Seed of the samples that are examined."""
_AGAIN = 2
"""Of the second time."""


class Examined:
    """`slots`: the stages in the order of their calls. `copies`: of values that are overwritten."""

    def __init__(self, dataset: Any, names: list[str], copies: Copies) -> None:
        self._dataset = dataset
        self.names = names
        self.copies = copies
        self.slots = planned_slots(dataset, names)
        if [slot.name for slot in self.slots] != names:
            missing = set(names) - {slot.name for slot in self.slots}
            raise NotCacheable(f"{', '.join(sorted(missing))} cannot be found in this process")

    def tape(self, index: Any) -> Tape:
        """How the sample `index` is made, now that it is known what is overwritten.

        Raises what the dataset raises.
        """
        return record(self.slots, lambda: self._dataset[index], self.copies, watch=False)

    def watched(self, index: Any, seed: int) -> tuple[Tape, set[int]]:
        """As tape(), and the stages that draw random numbers or give another output by `seed`."""
        draws = WatchedDraws(seed)

        def make() -> Any:
            draws.begin_sample(str(index))
            sample = self._dataset[index]
            draws.end_sample()
            return sample

        return settled(self.slots, make, self.copies, draws.call), draws.drew

    def random_stages(self, index: Any) -> tuple[Tape, set[int]]:
        """How the sample is made, and which stages may make another one the next time."""
        tape, drew = self.watched(index, RECORDED)
        again, drew_again = self.watched(index, _AGAIN)
        return tape, drew | drew_again | _different(tape, again)


@dataclass
class Findings:
    """What the samples `indices` say."""

    examined: Examined
    indices: list[int]
    tapes: list[Tape]
    random: set[int]
    """Stages that may make another output the next time; GLUE for the dataset's own code."""

    @property
    def names(self) -> list[str]:
        return self.examined.names

    @property
    def same_stages(self) -> int:
        """How many of the first stages give the same in every epoch."""
        return min(self.random - {GLUE}, default=len(self.names))


def examine(dataset: Any) -> Findings:
    """Raises what the dataset raises, NotCacheable for one without samples."""
    count = len(dataset)
    if count == 0:
        raise NotCacheable("the dataset is empty")
    indices = sorted({round(i * (count - 1) / max(1, SAMPLES - 1)) for i in range(SAMPLES)})
    found = probe(dataset, [partial(dataset.__getitem__, index) for index in indices])
    names = [stage["name"] for stage in found["stages"]]
    examined = Examined(dataset, names, Copies())
    tapes, random = [], set()
    for index in indices:
        tape, unsteady = examined.random_stages(index)
        tapes.append(tape)
        random |= unsteady
    return Findings(examined, indices, tapes, random)


def _different(tape: Tape, again: Tape) -> set[int]:
    """The first stage whose calls differ, and the dataset's own code where the sample does."""
    for call, other in zip(tape.calls, again.calls):
        if call.stage != other.stage:
            return {min(call.stage, other.stage)}
        if trees.digest(call.output) != trees.digest(other.output):
            return {call.stage}
    if len(tape.calls) != len(again.calls):
        longer = max(tape.calls, again.calls, key=len)
        return {longer[min(len(tape.calls), len(again.calls))].stage}
    return set() if equal(tape.sample, again.sample) else {GLUE}


def equal(one: Any, other: Any) -> bool:
    """Both samples have the same types and contents."""
    kinds = [[type(leaf) for leaf in trees.leaves(tree)] for tree in (one, other)]
    return kinds[0] == kinds[1] and trees.digest(one) == trees.digest(other)
