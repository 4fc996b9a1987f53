"""Makes random draws repeat: live batches and replays are then equal, bit by bit.

For tests of the replay, never in timed blocks. The generators of torch, numpy and random get a new
seed at the start of each sample, before and after each call of a member, and before collate.
Generators that an object keeps for itself are not reached. Not thread safe.
"""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any, Callable

from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .tape import Call, Copies, Tape, replay_with


class ExactDraws:
    """`seed`: of the whole run."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._sample = ""
        self._calls = 0

    def begin_sample(self, key: str) -> None:
        """The sample `key` is made from here on."""
        self._sample = key
        self._calls = 0
        self._draw_for("read", 0)

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The next member call of the sample."""
        number = self._calls
        self._draw_for(f"member {stage}", number)
        try:
            return function(*args, **kwargs)
        finally:
            self._calls = number + 1
            self._draw_for("read", self._calls)

    def run(self, number: int, call: Call, args: Any, kwargs: Any) -> Any:
        """For replay_with(): a call of a tape."""
        self._calls = number
        return self.call(call.stage, call.function, args, kwargs)

    def begin_collate(self, keys: list[str]) -> None:
        """The samples `keys` are collated from here on."""
        self._sample = " ".join(keys)
        self._draw_for("collate", 0)

    def _draw_for(self, stage: str, number: int) -> None:
        words = f"{self._seed} {self._sample} {stage} {number}"
        seed = zlib.crc32(words.encode())
        random.seed(seed)
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None:
            torch.default_generator.manual_seed(seed)
        if numpy is not None:
            numpy.random.seed(seed)


def live_samples(
    draws: ExactDraws, makers: list[tuple[str, Callable[[], Any]]], members: list[Slot]
) -> list[Any]:
    """What `makers` make; each comes with the key of its sample."""

    def stand_for(stage: int, original: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: draws.call(stage, original, args, kwargs)

    made = []
    with Installed(members, stand_for):
        for key, make in makers:
            draws.begin_sample(key)
            made.append(make())
    return made


def replayed_samples(
    draws: ExactDraws, tapes: list[tuple[str, Tape]], first_live: int, copies: Copies
) -> list[Any]:
    """The samples of `tapes`, with stages from `first_live` on live; each comes with its key."""
    made = []
    for key, tape in tapes:
        draws.begin_sample(key)
        made.append(replay_with(tape, first_live, copies, draws.run))
    return made
