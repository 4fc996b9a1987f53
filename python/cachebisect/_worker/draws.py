"""Finds out which stages of a sample draw random numbers.

Watched are the generators that torch, numpy and random share in a process; those that an object
keeps for itself are not seen. Nothing is drawn. Not thread safe.
"""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any, Callable

GLUE = -1
"""In place of a stage: the dataset's own code between the calls of stages."""


class DrawWatch:
    """`drew`: the stages that have drawn random numbers so far, GLUE for code between them."""

    def __init__(self) -> None:
        self.drew: set[int] = set()
        self._before = b""
        self._current = GLUE

    def begin_sample(self) -> None:
        """A sample is made from here on."""
        self._before = states()

    def end_sample(self) -> None:
        """The sample is made."""
        now = states()
        if now != self._before:
            self.drew.add(self._current)
        self._before = now

    def call(self, stage: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Makes the next call of a stage, which may be inside another one."""
        self.end_sample()
        outer, self._current = self._current, stage
        try:
            return function(*args, **kwargs)
        finally:
            self.end_sample()
            self._current = outer


def states() -> bytes:
    """A digest of the states of all generators."""
    crc = zlib.crc32(repr(random.getstate()).encode())
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None:
        crc = zlib.crc32(torch.get_rng_state().numpy().tobytes(), crc)
    if numpy is not None:
        name, keys, *rest = numpy.random.get_state()
        crc = zlib.crc32(repr((name, rest)).encode(), zlib.crc32(keys.tobytes(), crc))
    return crc.to_bytes(4, "little")
