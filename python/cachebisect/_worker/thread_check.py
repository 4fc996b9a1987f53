"""Whether a dataset gives the same samples when threads share it.

What a data set reads with one file position, or into one buffer, comes out mixed up then, mostly
without an error. A few samples are made one after the other and in threads.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Callable, Optional

from .._chain import trees
from .._chain.stand_ins import Stand
from .probe import planned_slots
from .side_by_side import StillRunning
from .tasks import Prepared
from .threaded_reads import ThreadedReads

_SECONDS = 3.0
"""No other sample is begun after that."""
_LEAST = 2
_PATIENCE = 3.0
_PATIENCE_SECONDS = 30.0
"""Threads may take so long in addition to _PATIENCE times what the same samples took without."""
_SWITCH_SECONDS = 1e-4
"""How often threads take turns while it is checked: more often than usual, to meet in more
places."""

Parts = list[Optional[int]]
"""Checksums of what is compared of a sample; None: it does not have this part."""


@dataclass(frozen=True)
class Found(Prepared):
    """In place of a batch: what was found. `why`: threads cannot share the dataset, in words; empty
    if they can. `was_compared`: False if no part of any sample is the same each time."""

    why: str = ""
    was_compared: bool = True


class ThreadCheck(ThreadedReads):
    """Gives a Found for the indices of some samples. For a process that ends afterwards.

    `random`: names of the stages that draw random numbers. `draws`: they, or the dataset's own
    code, do so.
    """

    def __init__(self, dataset: Any, threads: int, random: Sequence[str], draws: bool) -> None:
        self._random = tuple(random)
        self._draws = draws
        super().__init__(dataset, threads)

    def __getitems__(self, indices: Sequence[Any]) -> Found:
        parts = _Parts(self.dataset, self._random, self._draws)
        began = time.monotonic()
        first: list[Parts] = []
        for index in indices:
            first.append(parts.of(index))
            if len(first) >= _LEAST and time.monotonic() - began > _SECONDS:
                break
        numbers = range(len(first))
        second = [parts.of(indices[number]) for number in numbers]
        seconds = _PATIENCE_SECONDS + _PATIENCE * (time.monotonic() - began)
        unsteady = {place for pair in zip(first, second) for place in _differing(*pair)}
        shared = f"{self._read_threads} threads share it"
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            for order in (numbers, numbers[::-1]):
                again = self._pool().map(lambda number: parts.of(indices[number]), order, seconds)
                for number, now in zip(order, again):
                    if _differing(first[number], now) - unsteady:
                        return Found(
                            f"the dataset gives other samples when {shared}: a file position or a "
                            "buffer is shared"
                        )
        except StillRunning:
            return Found(f"the dataset gives no samples when {shared}: they wait for each other")
        except Exception as error:
            return Found(f"the dataset fails when {shared}: {type(error).__name__}: {error}")
        finally:
            sys.setswitchinterval(interval)
        steady = [
            part for each in first for place, part in enumerate(each) if place not in unsteady
        ]
        return Found(was_compared=any(part is not None for part in steady))


class _Parts:
    """Makes samples, and tells of their parts. Thread safe.

    The first is the whole sample; if stages draw random numbers, what the first of them is called
    with. Then come the single values that the sample holds, such as a label.
    """

    def __init__(self, dataset: Any, random: Sequence[str], draws: bool) -> None:
        self._dataset = dataset
        self._draws = draws
        self._of_thread = threading.local()
        for slot in planned_slots(dataset, random):
            slot.put(Stand(slot.get(), self._noted(slot.get(), slot.bound)))

    def of(self, index: Any) -> Parts:
        """Raises what the dataset raises."""
        inputs: list[int] = []
        self._of_thread.inputs = inputs
        sample = self._dataset[index]
        self._of_thread.inputs = None
        singles = [trees.digest(leaf) for leaf in trees.leaves(sample) if _is_single(leaf)]
        if not self._draws:
            return [trees.digest(sample), *singles]
        return [inputs[0] if inputs else None, *singles]

    def _noted(self, original: Callable[..., Any], bound: bool) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            inputs = getattr(self._of_thread, "inputs", None)
            if inputs is not None and not inputs:
                inputs.append(trees.digest((args[bound:], kwargs)))
            return original(*args, **kwargs)

        return call


def _is_single(leaf: Any) -> bool:
    if trees.is_tensor(leaf):
        return bool(leaf.numel() == 1)
    if type(leaf).__module__ == "numpy":
        return bool(leaf.size == 1)
    return isinstance(leaf, trees.PLAIN)


def _differing(one: Parts, other: Parts) -> set[int]:
    """Places of the parts that differ."""
    pairs = enumerate(zip_longest(one, other, fillvalue=-1))
    return {place for place, (a, b) in pairs if a != b}
