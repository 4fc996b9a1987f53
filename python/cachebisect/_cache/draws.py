"""Makes the draws of a sample repeat, and sees which stages draw. Not thread safe."""

from __future__ import annotations

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
