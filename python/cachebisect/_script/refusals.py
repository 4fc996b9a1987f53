"""When a script trains and no loader of it can be measured: when to say so, and what.

Not thread safe: at worst a step is not counted.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from .._chain.array_devices import refusal_of
from .._chain.callers import place_of_caller, script_name
from .._follow.named_iterator import NamedIterator
from .._job.pass_through import PassThrough
from .._job.ranks import rank_and_world
from .seen_loaders import SeenLoaders, words_for

STEPS = 100
STEPS_WITHOUT_TORCH = 30
_SECONDS = 60.0
_MIN_STEPS = 10
"""The answer comes after STEPS optimizer steps, or after _SECONDS and _MIN_STEPS."""
_CANDIDATE_STEPS = 1000
"""A loader that the loop takes batches from is waited for: as long as it gave one within the last
_CANDIDATE_STEPS, and within _SECONDS. Some loops take many steps with one batch."""

_NAMED = {
    "grain": "grain:IterDataset",
    "nvidia.dali.plugin.pytorch": "nvidia.dali.plugin.pytorch:DALIGenericIterator",
    "ray.data": "ray.data:DataIterator.iter_torch_batches",
    "spdl.dataloader": "spdl.dataloader:DataLoader",
    "spdl.pipeline": "spdl.pipeline:Pipeline",
    "torchdata.nodes": "torchdata.nodes:Loader",
}
"""What makes batches in other libraries, by the module that a script imports."""

_LIBRARY_CALL = "call cachebisect.bisect(loader, step) in the script"


class LateAnswer:
    """What is known of the training of a script. `named`: what is to be measured, if it was
    named."""

    def __init__(self, named: Optional[NamedIterator] = None) -> None:
        self._named = named
        self._began: Optional[float] = None
        self._candidate: Optional[tuple[int, float]] = None
        """Steps and time when a batch was last asked for."""
        self._thread = ""
        self._step_at = ""

    def note_candidate(self, steps: int) -> None:
        """A DataLoader is asked for a batch after `steps` steps, in the loop that trains."""
        self._candidate = steps, time.monotonic()

    def note_thread(self, loader: Any) -> None:
        """A batch of `loader` is asked for in a thread that does not train."""
        if not self._thread:
            place = place_of_caller()
            where = f" ({place})" if place else ""
            self._thread = f"a thread{where} reads the batches of {words_for(loader)} in advance"

    def is_due(self, steps: int) -> bool:
        """True if the script has trained `steps` steps and it is time to give up."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
        if self._candidate is not None:
            since, at = self._candidate
            return steps - since >= (_MIN_STEPS if now - at >= _SECONDS else _CANDIDATE_STEPS)
        return steps >= STEPS or (steps >= _MIN_STEPS and now - self._began >= _SECONDS)

    def reason(self, steps: int, loaders: SeenLoaders) -> str:
        """Why nothing is measured. Called in the thread that trains, after `steps` steps."""
        place = place_of_caller()
        where = f" (the last at {place})" if place else ""
        rank, world = rank_and_world()
        who = f"rank {rank} of {script_name()}" if world > 1 else script_name()
        trained = f"{who} has trained {steps} steps{where}"
        if self._thread:
            return (
                f"{trained}, and {self._thread}, so that the time of a step says nothing about "
                f"the loader; iterate it in the thread that trains, or {_LIBRARY_CALL}"
            )
        missing = self._missing()
        if missing is not None:
            return f"{trained}; {missing}"
        seen = loaders.listed()
        elsewhere = f" (DataLoaders seen elsewhere: {seen})" if seen else ""
        what = "a torch DataLoader" if self._named is None else self._named.target.text
        return f"{trained}, and no batch of {what} was taken between them{elsewhere}; " + _remedy(
            world
        )

    def without_torch(self, learnt: PassThrough) -> Optional[str]:
        """Why a named iterator is not measured in a script that has not imported torch; None as
        long as it may still do so."""
        if learnt.steps < STEPS_WITHOUT_TORCH:
            return None
        if learnt.untimed is not None:
            return refusal_of(learnt.untimed)
        return (
            f"{script_name()} has taken {learnt.steps} batches and not imported torch: only "
            f"training by torch is found; {_LIBRARY_CALL}, with a step that waits for its result"
        )

    def _missing(self) -> Optional[str]:
        return None if self._named is None else self._named.missing()

    def reason_at_end(self, steps: int, loaders: SeenLoaders) -> Optional[str]:
        """The same when the script ends; None if it has not trained."""
        if self._candidate is None:
            if steps == 0 and not self._thread:
                return self._missing()
            return self.reason(steps, loaders)
        batches = loaders.most_batches()
        return (
            f"{script_name()} ended after {batches} batches; a verdict usually needs 10 to 60 s "
            "of training. Raise the number of epochs, or repeat the loop if CACHEBISECT is set"
        )


def _remedy(world: int) -> str:
    if world == 1:
        known = [f"--iterator {name}" for module, name in _NAMED.items() if module in sys.modules]
        named = " or ".join(known) or "--iterator package.module:Class"
        return f"for other iterators, use {named}, or {_LIBRARY_CALL}"
    if "accelerate.data_loader" in sys.modules:
        return (
            "every rank must read batches of its own: with accelerate, "
            "DataLoaderConfiguration(dispatch_batches=False)"
        )
    return "every rank must read batches of its own"
