"""Keeps what random numbers are drawn from. Not thread safe."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Any


class KeptRandom:
    """The generators of torch (every device that is in use), NumPy and Python, and `generators`:
    torch.Generator objects. At the end of a with block they are restored."""

    def __init__(self, generators: Iterable[Any] = ()) -> None:
        torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
        self._python = random.getstate()
        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        self._numpy = numpy.random.get_state() if numpy is not None else None
        self._generators = [(generator, generator.get_state()) for generator in generators]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.restore()

    def restore(self) -> None:
        """All of them go on from where they were."""
        torch = sys.modules["torch"]
        random.setstate(self._python)
        torch.set_rng_state(self._torch)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
        for generator, state in self._generators:
            generator.set_state(state)
