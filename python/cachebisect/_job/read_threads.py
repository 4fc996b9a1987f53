"""Samples that several threads of each worker make: `read_threads=8`. Not thread safe.

Whether threads can share the dataset is seen on a few samples first.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Callable, Optional

from .._cache.child import in_child
from .._chain import facts
from .._chain.description import MEMBER, Chain
from .._chain.settings import ON_DEVICE, READ_THREADS, value_of
from .._chain.sources import asks_for_single_samples
from .._worker.tasks import LIVE, Task
from .._worker.thread_check import Found, ThreadCheck
from .._worker.threaded_reads import ThreadedReads
from .loaders import MeasuredLoader
from .patience import Patience
from .shadow import ShadowLoader

_SAMPLES = 32
_SECONDS = 240.0
"""Within which a worker has made them."""
_UNCOMPARED = (
    "whether threads may share the dataset could not be checked: no part of its samples is the "
    "same each time"
)


class ReadThreads:
    """`loader`: its dataset is a map-style one or an iterable one of torch."""

    def __init__(self, loader: MeasuredLoader) -> None:
        self._loader = loader
        self._checked: dict[tuple[int, int], Found] = {}
        self.note = ""
        """What is not sure of the dataset that was asked for last."""

    def of(self, arm: dict[str, Any], chain: Chain) -> Optional[Callable[[Any], ThreadedReads]]:
        """What makes the dataset of a live arm of that which it stands for; None without threads.

        Raises ValueError if threads cannot make its samples. So does what it returns, as well as
        LoaderGone and what the dataset raises.
        """
        self.note = ""
        overrides = arm.get("overrides") or {}
        threads = value_of(overrides, READ_THREADS, None)
        if threads is None:
            return None
        why = self._refusal(overrides)
        if why is not None:
            raise ValueError(f"{READ_THREADS}={threads}: {why}")
        return partial(self._over, int(threads), arm, chain)

    def _refusal(self, overrides: dict[str, str]) -> Optional[str]:
        own = self._loader.own
        if facts.is_iterable(own.dataset):
            return "an iterable dataset gives one sample after the other"
        if own.batch_sampler is None:
            return "the loader makes no batches of samples: the dataset is asked for one at a time"
        if not asks_for_single_samples(own):
            return "the dataset makes all samples of a batch itself, in __getitems__"
        if ON_DEVICE in overrides:
            return "it cannot be tried together with stages that run on the device"
        return None

    def _over(self, threads: int, arm: dict[str, Any], chain: Chain, dataset: Any) -> ThreadedReads:
        key = id(dataset), threads
        if key not in self._checked:
            random = [s.name for s in chain.stages if s.place == MEMBER and s.random]
            draws = any(stage.random for stage in chain.stages)
            self._checked[key] = self._found(ThreadCheck(dataset, threads, random, draws), arm)
        found = self._checked[key]
        if found.why:
            raise ValueError(f"{READ_THREADS}={threads}: {found.why}")
        if not found.was_compared:
            self.note = f"{READ_THREADS}={threads}: {_UNCOMPARED}"
        return ThreadedReads(dataset, threads)

    def _indices(self) -> list[Any]:
        """Of some samples, as the sampler gives them, each once."""
        assert self._loader.order is not None
        indices: list[Any] = []
        while len(indices) < _SAMPLES:
            indices += self._loader.order.draw()
        return list({repr(index): index for index in indices[:_SAMPLES]}.values())

    def _found(self, check: ThreadCheck, arm: dict[str, Any]) -> Found:
        """By a process that ends then: a worker as those of the arm, or one in place of this."""
        indices = self._indices()
        others = {name: json.loads(text) for name, text in arm["overrides"].items()}
        workers = others.pop("workers", others.get("num_workers", self._loader.own.num_workers))
        if workers == 0:
            return in_child(partial(check.__getitems__, indices))
        shadow = ShadowLoader(self._loader.own, {**others, "num_workers": 1}, check)

        def make(number: int) -> Task:
            return Task(number, 1, LIVE, 0, 0, indices, (), False, 0, 0)

        try:
            with Patience(_SECONDS, shadow):
                shadow.begin_some(1, 1, make)
                found: Found = shadow.receive()
                return found
        finally:
            shadow.close()
