"""Loaders that each step reads next to the one that is measured. Not thread safe."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from .._chain import trees
from .._chain.description import COMPANION, COPY, Chain, Stage, name_of_loader
from .._chain.own_iteration import OwnIteration
from .._chain.restart import Restarting
from .._worker.worker_end import end_iterator
from .feeds import REPLAYED, Waiting


class Companion:
    """One of them: a stage of the chain, which is served from a cache or by the loader itself.

    `name`: of the stage. It has iterators of its own, begun again at their end. `copies`: the step
    writes into its batches.
    """

    def __init__(self, name: str, loader: OwnIteration, copies: bool = False) -> None:
        self.name = name
        self._copies = copies
        self.seconds = 0.0
        """That the training thread has waited for its batches."""
        self._kind = f"read.{name_of_loader(loader.loader)}"
        self._batches = Restarting(loader)
        self._host: list[Any] = []
        self._device: list[Any] = []
        self._served: list[Any] = []
        self._next = 0
        self._waiting = Waiting()

    def stage(self) -> Stage:
        """Its stage. It works on whole batches, and is the last one before the copy."""
        return Stage(self.name, self._kind, "batch", COMPANION)

    def fill(self, batches: int, device: Any) -> None:
        """Caches so many batches. Raises what the loader raises, ValueError if it is empty."""
        self._host = [trees.clone(self._live()) for _ in range(batches)]
        moved = [] if device is None else [trees.to_device(b, device) for b in self._host]
        self._device = moved

    def serve(self, cached: bool, on_device: bool, waiting: Waiting) -> None:
        """From now on: cached batches or live ones. `waiting`: of the block that begins."""
        held = self._device if on_device and self._device else self._host
        self._served = held if cached else []
        self._waiting = waiting

    def next_batch(self) -> Any:
        """For one step. Raises what the loader raises."""
        if self._served:
            self._next += 1
            batch = self._served[self._next % len(self._served)]
            return trees.clone(batch) if self._copies else batch
        began = time.monotonic()
        batch = self._live()
        seconds = time.monotonic() - began
        self.seconds += seconds
        self._waiting.starved += seconds
        return batch

    def close(self) -> None:
        """Ends its workers and frees its cache."""
        end_iterator(self._batches.release())
        self._host, self._device, self._served = [], [], []

    def _live(self) -> Any:
        try:
            return self._batches.next()
        except StopIteration:
            raise ValueError(f"{self.name} gave no batch") from None


class Companions:
    """All of them, in the order of their stages."""

    def __init__(self, companions: Sequence[Companion] = ()) -> None:
        self._all = list(companions)

    def add_to(self, chain: Chain) -> None:
        """Puts their stages before the copy, or at the end."""
        at = len(chain.stages) - (chain.stages[-1].place == COPY)
        chain.stages[at:at] = [companion.stage() for companion in self._all]

    def fill(self, batches: int, device: Any) -> None:
        for companion in self._all:
            companion.fill(batches, device)

    def serve(self, arm: dict[str, Any], chain: Chain, waiting: Waiting) -> None:
        """As `arm` (docs/extend/protocol.md) says."""
        places = [stage.place for stage in chain.stages]
        first = places.index(COMPANION) + 1 if self._all else 0
        boundary = int(arm.get("boundary", 0)) if arm.get("kind") in REPLAYED else 0
        skipped = int(arm["stage"]) if arm.get("kind") == "bypass" else 0
        for number, companion in enumerate(self._all, start=first):
            cached = number <= boundary or number == skipped
            companion.serve(cached, boundary == chain.last, waiting)

    def seconds(self) -> list[float]:
        """That the training thread has waited for each so far."""
        return [companion.seconds for companion in self._all]

    def close(self) -> None:
        for companion in self._all:
            companion.close()
