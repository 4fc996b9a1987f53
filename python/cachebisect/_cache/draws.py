"""Finds out which stages of a sample draw random numbers, and makes their draws repeat.

Watched are the generators that torch, numpy and random share in a process; those that an object
keeps for itself are not seen. Not thread safe.
"""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any, Callable

from .._worker.exact import ExactDraws

GLUE = -1
"""In place of a stage: the dataset's own code between the calls of stages."""


class WatchedDraws(ExactDraws):
    """`drew`: the stages that have drawn random numbers so far, GLUE for code between them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drew: set[int] = set()
        self._before = b""

    def begin_sample(self, key: str) -> None:
        super().begin_sample(key)
        self._before = _states()

    def end_sample(self) -> None:
        """The sample is made."""
        self._note(GLUE)

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._note(GLUE)

        def watched(*args: Any, **kwargs: Any) -> Any:
            before = _states()
            try:
                return function(*args, **kwargs)
            finally:
                if _states() != before:
                    self.drew.add(stage)

        try:
            return super().call(stage, watched, args, kwargs)
        finally:
            self._before = _states()

    def make(self, number: int, stage: int, function: Any, args: Any, kwargs: Any) -> Any:
        """Makes a call of an Entry."""
        self._calls = number
        return self.call(stage, function, args, kwargs)

    def _note(self, stage: int) -> None:
        if _states() != self._before:
            self.drew.add(stage)


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


def _states() -> bytes:
    """A digest of the states of all generators."""
    crc = zlib.crc32(repr(random.getstate()).encode())
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None:
        crc = zlib.crc32(torch.get_rng_state().numpy().tobytes(), crc)
    if numpy is not None:
        name, keys, *rest = numpy.random.get_state()
        crc = zlib.crc32(repr((name, rest)).encode(), zlib.crc32(keys.tobytes(), crc))
    return crc.to_bytes(4, "little")
