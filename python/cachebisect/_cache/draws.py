"""Makes the draws of a sample repeat, and sees which stages draw. Not thread safe."""

from __future__ import annotations

import random
import sys
from typing import Any, Callable

from .._worker.draws import DrawWatch
from .._worker.exact import ExactDraws


class WatchedDraws(ExactDraws):
    """`drew`: as that of a DrawWatch."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._watch = DrawWatch()

    @property
    def drew(self) -> set[int]:
        return self._watch.drew

    def begin_sample(self, key: str) -> None:
        super().begin_sample(key)
        self._watch.begin_sample()

    def end_sample(self) -> None:
        """The sample is made."""
        self._watch.end_sample()

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._watch.end_sample()

        def watched(*args: Any, **kwargs: Any) -> Any:
            self._watch.begin_sample()
            return self._watch.call(stage, function, args, kwargs)

        try:
            return super().call(stage, watched, args, kwargs)
        finally:
            self._watch.begin_sample()

    def make(self, number: int, stage: int, function: Any, args: Any, kwargs: Any) -> Any:
        """Makes a call of an Entry."""
        self._calls = number
        return self.call(stage, function, args, kwargs)


class KeptDraws:
    """Puts the generators back to where they were, at the end of a with block."""

    def __enter__(self) -> None:
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        self._random = random.getstate()
        self._torch = torch.get_rng_state() if torch is not None else None
        self._numpy = numpy.random.get_state() if numpy is not None else None

    def __exit__(self, *error: object) -> None:
        random.setstate(self._random)
        if self._torch is not None:
            sys.modules["torch"].set_rng_state(self._torch)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
