"""DataLoaders with a slow stage at a known place, drawn by seed."""

from __future__ import annotations

import functools
import random
import time
import zlib
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

SHAPE = (3, 32, 32)
DEVICE = "meta"
"""Tensors there have no data: the only device but the CPU that every machine has."""

_MAX_DEBT = 1e-3
_BLOCK = bytes(4096)
"""A checksum of it is one unit of work, and holds the interpreter lock."""


@dataclass
class Plan:
    """One planted loader. Seconds are per sample; `collate`, `copy` and `step` per batch."""

    seed: int
    place: str
    workers: int
    method: Optional[str]
    iterable: bool
    burn: bool
    read: float
    members: list[float]
    collate: float
    tensors: int
    copy: float
    """Seconds for moving a batch to DEVICE; 0: the step runs where the batch is."""
    step: float
    batch: int

    @property
    def stages(self) -> list[str]:
        """How the names of the stages begin, in chain order."""
        inside = ["read", "transforms[0]", "transforms[1]", "collate_fn"]
        return inside + ["transfer"] * (self.workers > 0) + ["copy"] * (self.copy > 0)

    @staticmethod
    def draw(seed: int) -> Plan:
        """The loader of `seed`."""
        choose = random.Random(seed)
        workers = choose.choice([0, 1, 2, 4])
        places = ["read", "transforms[0]", "transforms[1]", "collate_fn", "copy", "none"]
        place = choose.choice(places + ["transfer"] * (workers > 0))
        batch = choose.choice([8, 16, 32])
        cheap = choose.uniform(20e-6, 80e-6)
        slow = choose.uniform(4, 10) * max(1, workers)
        step = choose.uniform(2e-3, 8e-3)
        plan = Plan(
            seed, place, workers,
            choose.choice(["fork", "spawn", "forkserver"]) if workers else None,
            choose.random() < 0.3, choose.random() < 0.3 and workers < 2,
            cheap, [cheap, cheap], 100e-6, 2, 0.0, step, batch,
        )  # fmt: skip
        per_sample = slow * step / batch / 3
        if place == "read":
            plan.read = per_sample
        elif place.startswith("transforms"):
            plan.members[int(place[11])] = per_sample
        elif place == "collate_fn":
            plan.collate = per_sample * batch
        elif place == "copy":
            plan.copy = choose.uniform(0.8, 2) * step
        elif place == "transfer":  # A tensor costs 0.2 to 0.3 ms of CPU time, on both sides.
            plan.tensors, plan.step = choose.choice([30, 60]), 2e-3
        return plan


@functools.lru_cache(maxsize=1)
def units_per_second() -> float:
    """Units of work that this machine does when nothing disturbs it; measured once."""
    count, best = 2000, float("inf")
    for _ in range(10):
        began = time.perf_counter()
        _work(count)
        best = min(best, time.perf_counter() - began)
    return count / best


def _work(units: int) -> None:
    for _ in range(units):
        zlib.crc32(_BLOCK)


class Cost:
    """Waits for `seconds` on average, or does the work that takes so long on a quiet machine.

    Work is a fixed amount: what disturbs it costs time, as it does in real code. Sleeps overshoot
    by 60 to 100 us, and later calls make up for that. Not a callable, which would be a stage. Not
    thread safe.
    """

    def __init__(self, seconds: float, burn: bool) -> None:
        self.seconds = seconds
        self._units = round(seconds * units_per_second()) if burn else 0
        self._debt = 0.0

    def pay(self) -> None:
        if self._units > 0:
            _work(self._units)
        elif self.seconds > 0:
            self._wait()

    def _wait(self) -> None:
        wanted = self.seconds - self._debt
        began = time.perf_counter()
        if wanted > 0:
            time.sleep(wanted)
        self._debt = min(time.perf_counter() - began - wanted, _MAX_DEBT)


class Member:
    def __init__(self, seconds: float, burn: bool) -> None:
        self._cost = Cost(seconds, burn)

    def __call__(self, x: Any) -> Any:
        self._cost.pay()
        return x + 1


class Compose:
    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, x: Any) -> Any:
        for member in self.transforms:
            x = member(x)
        return x


class Samples:
    """`free`: the stages up to this number give constants."""

    def __init__(self, plan: Plan, free: int) -> None:
        self.free = free
        self.constant = torch.zeros(SHAPE)
        self.transform = Compose([Member(s, plan.burn) for s in plan.members[max(0, free - 1) :]])
        self._read = Cost(plan.read, plan.burn)

    def sample(self, index: int) -> Any:
        if self.free == 0:
            self._read.pay()
            return self.transform(torch.full(SHAPE, float(index))), index
        return self.transform(self.constant), index


class Indexed(Samples, Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 20000

    def __getitem__(self, index: int) -> Any:
        return self.sample(index)


class Iterated(Samples, IterableDataset):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        for index in range(20000):
            yield self.sample(index)


class Collate:
    """Stacks the images; `tensors` views of them travel one by one."""

    def __init__(self, plan: Plan, free: bool) -> None:
        self.kept: Any = None
        self.free = free
        self._tensors = plan.tensors
        self._cost = Cost(plan.collate, plan.burn)

    def __call__(self, samples: Any) -> Any:
        if self.free and self.kept is not None:
            return [tensor.clone() for tensor in self.kept]
        self._cost.pay()
        images = torch.stack([image for image, _ in samples])
        pieces = [images[0, 0, i % 32].clone() for i in range(self._tensors - 1)]
        self.kept = [images, *pieces]
        return self.kept


class Step:
    """One training step. Moving a batch costs, unless it is on the device already."""

    def __init__(self, plan: Plan) -> None:
        self._step = Cost(plan.step, not plan.workers)
        self._copy = Cost(plan.copy, not plan.workers)

    def __call__(self, batch: Any) -> None:
        if self._copy.seconds > 0 and batch[0].device.type != DEVICE:
            self._copy.pay()
            for tensor in batch:
                tensor.to(DEVICE)
        self._step.pay()


def loader_of(plan: Plan, free: int, method: Optional[str]) -> Any:
    """The loader with the stages up to `free` replaced by constants."""
    kind = Iterated if plan.iterable else Indexed
    return DataLoader(
        kind(plan, free),
        batch_size=plan.batch,
        collate_fn=Collate(plan, free >= 4),
        num_workers=plan.workers,
        multiprocessing_context=method,
    )
