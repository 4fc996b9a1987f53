"""Plants a slow stage into DataLoaders by seed, and compares verdicts with fresh loaders.

    CACHEBISECT_BINARY=build/release/bin/cachebisect python bench/python/planted.py --seeds 1:60

The truth of a loader is measured without any part of cachebisect: for every boundary a fresh
DataLoader is made whose stages up to there give constants. A verdict is right if it names the stage
whose fresh loaders differ most in seconds per sample (any of those within --close of it), or says
that nothing is lost where the whole loss is below --min-drop. Everything is drawn from the seed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

import cachebisect

PLACES = ("read", "transforms[0]", "transforms[1]", "collate_fn", "transfer", "none")
SHAPE = (3, 32, 32)


@dataclass
class Plan:
    """One planted loader. Seconds are per sample, `collate` and `step` per batch."""

    seed: int
    place: str
    workers: int
    method: str | None
    iterable: bool
    burn: bool
    read: float
    members: list[float]
    collate: float
    tensors: int
    step: float
    batch: int

    @staticmethod
    def draw(seed: int) -> Plan:
        """The loader of `seed`."""
        choose = random.Random(seed)
        workers = choose.choice([0, 1, 2, 4])
        places = PLACES if workers else [p for p in PLACES if p != "transfer"]
        place = choose.choice(places)
        batch = choose.choice([8, 16, 32])
        cheap = choose.uniform(20e-6, 80e-6)
        slow = choose.uniform(4, 10) * max(1, workers)
        step = choose.uniform(2e-3, 8e-3)
        plan = Plan(
            seed, place, workers,
            choose.choice(["fork", "spawn", "forkserver"]) if workers else None,
            choose.random() < 0.3, choose.random() < 0.3 and workers < 2,
            cheap, [cheap, cheap], 100e-6, 2, step, batch,
        )  # fmt: skip
        per_sample = slow * step / batch / 3
        if place == "read":
            plan.read = per_sample
        elif place.startswith("transforms"):
            plan.members[int(place[11])] = per_sample
        elif place == "collate_fn":
            plan.collate = per_sample * batch
        elif place == "transfer":
            plan.tensors, plan.step = choose.choice([150, 300]), 2e-3
        return plan


def spend(seconds: float, burn: bool) -> None:
    """Waits, or computes, for `seconds`."""
    if seconds <= 0:
        return
    if not burn:
        time.sleep(seconds)
        return
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Member:
    def __init__(self, seconds: float, burn: bool) -> None:
        self.seconds = seconds
        self.burn = burn

    def __call__(self, x: Any) -> Any:
        spend(self.seconds, self.burn)
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
        self.plan = plan
        self.free = free
        self.constant = torch.zeros(SHAPE)
        self.transform = Compose([Member(s, plan.burn) for s in plan.members[max(0, free - 1) :]])

    def sample(self, index: int) -> Any:
        if self.free == 0:
            spend(self.plan.read, self.plan.burn)
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
        self.plan = plan
        self.kept: Any = None
        self.free = free

    def __call__(self, samples: Any) -> Any:
        if self.free and self.kept is not None:
            return [tensor.clone() for tensor in self.kept]
        spend(self.plan.collate, self.plan.burn)
        images = torch.stack([image for image, _ in samples])
        pieces = [images[0, 0, i % 32].clone() for i in range(self.plan.tensors - 1)]
        self.kept = [images, *pieces]
        return self.kept


def loader_of(plan: Plan, free: int, method: str | None) -> Any:
    """The loader with the stages up to `free` replaced by constants."""
    kind = Iterated if plan.iterable else Indexed
    return DataLoader(
        kind(plan, free),
        batch_size=plan.batch,
        collate_fn=Collate(plan, free >= 4),
        num_workers=plan.workers,
        multiprocessing_context=method,
    )


def step_of(plan: Plan) -> Any:
    return lambda batch: spend(plan.step, not plan.workers)


def seconds_per_sample(plan: Plan, free: int, seconds: float) -> float:
    """Of the training loop over a fresh loader, after its start. Workers are forked."""
    step = step_of(plan)
    method = "fork" if plan.workers else None
    batches: Any = iter(loader_of(plan, free, method)) if free < 5 else None
    group = max(1, plan.workers)
    for _ in range(4 * group):
        step(next(batches) if batches is not None else None)
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds or steps % group or steps < 4 * group:
        step(next(batches) if batches is not None else None)
        steps += 1
    return (time.perf_counter() - began) / steps / plan.batch


def truth_of(plan: Plan, seconds: float) -> list[float]:
    """Seconds per sample at boundaries 0 to n: three passes, medians."""
    last = 5 if plan.workers else 4
    levels = [*range(last), 5]
    passes = [[seconds_per_sample(plan, level, seconds / 3) for level in levels] for _ in range(3)]
    return [statistics.median(column) for column in zip(*passes)]


def judge(taus: list[float], named: str | None, kind: str, min_drop: float, close: float) -> str:
    """right, wrong or inconclusive."""
    if kind == "inconclusive":
        return kind
    places = PLACES[: len(taus) - 1]
    costs = [taus[k] - taus[k + 1] for k in range(len(taus) - 1)]
    loss = 1 - taus[-1] / taus[0]
    if kind == "flat":
        return "right" if loss < 2 * min_drop else "wrong"
    if kind == "spread":
        return (
            "right" if max(1 - taus[k + 1] / taus[k] for k in range(len(costs))) < 0.1 else "wrong"
        )
    best = max(costs)
    allowed = [place for place, cost in zip(places, costs) if cost >= (1 - close) * best]
    return "right" if any((named or "").startswith(place) for place in allowed) else "wrong"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", default="1:60", help="FIRST:LAST")
    parser.add_argument("--budget", type=float, default=30, help="seconds per verdict")
    parser.add_argument("--truth-seconds", type=float, default=1.5, help="per boundary")
    parser.add_argument("--min-drop", type=float, default=0.05)
    parser.add_argument("--close", type=float, default=0.2)
    parser.add_argument("--json", help="file for every case")
    arguments = parser.parse_args()
    first, last = (int(n) for n in arguments.seeds.split(":"))
    cases: list[dict[str, Any]] = []
    for seed in range(first, last + 1):
        plan = Plan.draw(seed)
        began = time.monotonic()
        report = cachebisect.bisect(
            loader_of(plan, 0, plan.method), step_of(plan),
            budget=arguments.budget, explain=False, progress=False,
        )  # fmt: skip
        took = time.monotonic() - began
        taus = truth_of(plan, arguments.truth_seconds)
        verdict = report.verdict
        result = judge(taus, verdict.stage, verdict.kind, arguments.min_drop, arguments.close)
        case = {"seed": seed, "plan": vars(plan), "taus": taus, "result": result, "took": took}
        case.update(kind=verdict.kind, named=verdict.stage, text=verdict.text)
        cases.append(case)
        costs = " ".join(f"{(a - b) * 1e6:.0f}" for a, b in zip(taus, taus[1:]))
        style = "iterable" if plan.iterable else "map"
        print(
            f"{seed:3} {result:12} planted {plan.place:13} "
            f"named {verdict.stage or verdict.kind:28} W {plan.workers} "
            f"{plan.method or '-':10} {style:8} {took:5.1f} s  us per sample: {costs}",
            flush=True,
        )
    counts = {r: sum(c["result"] == r for c in cases) for r in ("right", "wrong", "inconclusive")}
    seconds = statistics.median(case["took"] for case in cases)
    print(f"{len(cases)} loaders: {counts}, median {seconds:.1f} s to a verdict")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(cases, indent=1))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
