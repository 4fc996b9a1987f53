"""Makes the random draws of a sample repeat, and sees which stages draw. Not thread safe."""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any, Callable

from .._worker.draws import DrawWatch


class WatchedDraws:
    """Gives the generators of torch, numpy and random a new seed at the start of each sample, and
    before and after each call of a stage. Generators that an object keeps for itself are not
    reached. `seed`: of all samples."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._sample = ""
        self._calls = 0
        self._watch = DrawWatch()

    @property
    def drew(self) -> set[int]:
        """As that of a DrawWatch."""
        return self._watch.drew

    def begin_sample(self, key: str) -> None:
        """The sample `key` is made from here on."""
        self._sample = key
        self._calls = 0
        self._draw_for("read", 0)
        self._watch.begin_sample()

    def end_sample(self) -> None:
        """The sample is made."""
        self._watch.end_sample()

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Makes the next call of a stage."""
        self._watch.end_sample()
        number = self._calls
        self._draw_for(f"member {stage}", number)
        self._watch.begin_sample()
        try:
            return self._watch.call(stage, function, args, kwargs)
        finally:
            self._calls = number + 1
            self._draw_for("read", self._calls)
            self._watch.begin_sample()

    def make(self, number: int, stage: int, function: Any, args: Any, kwargs: Any) -> Any:
        """Makes a call of an Entry."""
        self._calls = number
        return self.call(stage, function, args, kwargs)

    def _draw_for(self, stage: str, number: int) -> None:
        words = f"{self._seed} {self._sample} {stage} {number}"
        seed = zlib.crc32(words.encode())
        random.seed(seed)
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None:
            torch.default_generator.manual_seed(seed)
        if numpy is not None:
            numpy.random.seed(seed)
