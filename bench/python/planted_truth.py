"""What fresh loaders say of a planted loader, and whether a report agrees with them."""

from __future__ import annotations

import itertools
import random
import re
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import torch
from figures import Interval, mean_interval
from planted_loaders import DEVICE, SHAPE, Plan, Step, loader_of

PASSES = 5
MOST_PASSES = 30
"""As many as that where fewer do not tell which stages are as good an answer."""
_SLACK = 0.005
"""Tolerance for true drops next to the smallest drop worth naming."""
_COLLATED = 4


class Truth:
    """`passes`: seconds per sample at every boundary, each time that they were measured."""

    def __init__(self, passes: list[list[float]]) -> None:
        self.passes = passes
        self.taus = [statistics.median(column) for column in zip(*passes)]

    @property
    def costs(self) -> list[float]:
        """Seconds per sample of each stage."""
        return [a - b for a, b in zip(self.taus, self.taus[1:])]

    def is_decided(self, close: float) -> bool:
        """True if it is known of each stage, at 99%, whether its cost is the largest but for the
        share `close` of it."""
        costs = [[a - b for a, b in zip(taus, taus[1:])] for taus in self.passes]
        means = [statistics.fmean(column) for column in zip(*costs)]
        best = means.index(max(means))
        for stage in range(len(means)):
            gaps = mean_interval([cost[stage] - (1 - close) * cost[best] for cost in costs])
            if stage != best and (gaps is None or gaps.low < 0 < gaps.high):
                return False
        return True

    def drop(self, first: int, last: int) -> Interval:
        """Share of throughput that stages `first` to `last` (from 1) take; at 99%."""
        drops = [1 - taus[last] / taus[first - 1] for taus in self.passes]
        return mean_interval(drops) or Interval(min(drops), max(drops))

    def loss(self) -> Interval:
        return self.drop(1, len(self.taus) - 1)


class Coverage(NamedTuple):
    """Printed 99% intervals, and those that meet the truth's own."""

    intervals: int
    covered: int
    missed: list[str]


def truth_of(plan: Plan, seconds: float) -> Truth:
    """Measures each boundary for `seconds`, in PASSES passes of random order."""
    order = random.Random(plan.seed)
    return Truth([_pass(plan, order, seconds / PASSES) for _ in range(PASSES)])


def decided_truth(plan: Plan, known: Truth, seconds: float, close: float) -> Truth:
    """`known` with more passes, until it is decided or has MOST_PASSES. The verdict plays no
    part in it."""
    order = random.Random(plan.seed + 1)
    passes = list(known.passes)
    while len(passes) < MOST_PASSES and not Truth(passes).is_decided(close):
        passes += [_pass(plan, order, seconds / PASSES) for _ in range(PASSES)]
    return Truth(passes)


def _pass(plan: Plan, order: random.Random, seconds: float) -> list[float]:
    """Seconds per sample at every boundary, measured once for `seconds` each, in random order."""
    boundaries = list(range(len(plan.stages) + 1))
    order.shuffle(boundaries)
    taus = {b: seconds_per_sample(plan, b, seconds) for b in boundaries}
    return [taus[b] for b in sorted(taus)]


def batches_at(plan: Plan, boundary: int) -> Iterator[Any]:
    """Batches of a fresh loader whose stages up to `boundary` give constants."""
    if boundary < _COLLATED or (boundary == _COLLATED and plan.workers):
        return iter(loader_of(plan, boundary, "fork" if plan.workers else None))
    moved = boundary == len(plan.stages)
    images = torch.zeros(plan.batch, *SHAPE, device=DEVICE if moved else "cpu")
    return itertools.repeat([images])


def seconds_per_sample(plan: Plan, boundary: int, seconds: float) -> float:
    """Time per sample of the training loop over a fresh loader, after its start. Workers are
    forked."""
    step = Step(plan)
    batches = batches_at(plan, boundary)
    group = max(1, plan.workers)
    for _ in range(4 * group):
        step(next(batches))
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds or steps % group or steps < 4 * group:
        step(next(batches))
        steps += 1
    return (time.perf_counter() - began) / steps / plan.batch


def judge(report: dict[str, Any], plan: Plan, truth: Truth, close: float) -> str:
    """right, wrong or inconclusive. `close`: a stage whose cost is the largest but for this share
    of it is as good an answer."""
    verdict = report["verdict"]
    kind, bar = verdict["kind"], report["settings"]["min_drop"]
    if kind == "inconclusive":
        return "inconclusive"
    drops = [truth.drop(s, s) for s in range(1, len(plan.stages) + 1)]
    if kind == "flat":
        return _right_if(truth.loss().low < bar + _SLACK)
    if kind == "spread":
        small = max(drop.low for drop in drops) < bar + _SLACK
        return _right_if(truth.loss().high > bar - _SLACK and small)
    best = max(truth.costs)
    allowed = [n for n, cost in enumerate(truth.costs, start=1) if cost >= (1 - close) * best]
    named = [*_stages_named(report, verdict["stage"]), *_tied(report)]
    if len(named) > 1 and verdict["stage"].endswith("together"):
        return "inconclusive" if set(named) & set(allowed) else "wrong"
    return _right_if(any(n in allowed and drops[n - 1].high > bar - _SLACK for n in named))


def _right_if(condition: bool) -> str:
    return "right" if condition else "wrong"


def _stages_named(report: dict[str, Any], name: Optional[str]) -> list[int]:
    """Numbers of the stages that `name` stands for; several if it is a span."""
    span = _span(name)
    if span is not None:
        return list(range(span[0], span[1] + 1))
    return [stage["index"] for stage in report["stages"] if stage["name"] == name]


def _tied(report: dict[str, Any]) -> list[int]:
    return [n for name in report["verdict"]["tied_with"] for n in _stages_named(report, name)]


def _span(name: Optional[str]) -> Optional[tuple[int, int]]:
    found = re.fullmatch(r"stages (\d+)-(\d+) together", name or "")
    return (int(found[1]), int(found[2])) if found else None


def coverage(report: dict[str, Any], truth: Truth) -> Coverage:
    """Whether each interval of a drop, of one stage or of a span, and that of the loss hold."""
    printed = [("loss", report["loss"]["interval"], truth.loss())]
    for stage in report["stages"]:
        number = stage["index"]
        printed.append((stage["name"], stage["drop_interval"], truth.drop(number, number)))
    for span in report["spans"]:
        true_drop = truth.drop(span["first"], span["last"])
        printed.append((span["name"], span["drop_interval"], true_drop))
    known = [(name, Interval(*given), true) for name, given, true in printed if _both(given)]
    missed = [
        f"{name}: {given.low:.3f} to {given.high:.3f}, truth {true.low:.3f} to {true.high:.3f}"
        for name, given, true in known
        if not given.meets(true)
    ]
    return Coverage(len(known), len(known) - len(missed), missed)


def _both(interval: Any) -> bool:
    return interval is not None and None not in interval
