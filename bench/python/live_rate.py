"""Live through the shadow loader against the untouched loader, in turns.

    python bench/python/live_rate.py [--workers 2] [--seconds-per-sample 0.001] [--rounds 10]

Prints the ratio of seconds per sample (above 1: the shadow loader is slower) of each round, their
median, and how many were above 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from planted import Indexed, Plan, loader_of

from cachebisect._job import Job
from cachebisect._state import KeptState


def untouched(loader: Any, warmup: int, steps: int) -> float:
    """Seconds per step of the loader as it is."""
    batches = iter(loader)
    for _ in range(warmup):
        next(batches)
    began = time.perf_counter()
    for _ in range(steps):
        next(batches)
    return (time.perf_counter() - began) / steps


def live(job: Job, warmup: int, steps: int) -> float:
    """Seconds per step of a live block."""
    arm = {"kind": "replay", "boundary": 0, "observed": True}
    block = job.begin_block({"arm": arm, "steps": steps, "warmup_steps": warmup})
    while not block.enter():
        block.take()
    block.end()
    result = block.result()
    return float(result["seconds"] / result["steps"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds-per-sample", type=float, default=0.001)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--burn", action="store_true", help="compute instead of waiting")
    arguments = parser.parse_args()
    cost = arguments.seconds_per_sample
    plan = Plan(
        0, "none", arguments.workers, "fork" if arguments.workers else None, False, arguments.burn,
        cost / 3, [cost / 3, cost / 3], 0.0, 2, 0.0, 8,
    )  # fmt: skip
    loader = loader_of(plan, 0, plan.method)
    assert isinstance(loader.dataset, Indexed)
    job = Job(loader, KeptState())
    warmup = 4 * max(1, arguments.workers)
    ratios = []
    for number in range(arguments.rounds):
        measured = [lambda: live(job, warmup, arguments.steps)]
        measured.append(lambda: untouched(loader, warmup, arguments.steps))
        order = [0, 1] if number % 2 else [1, 0]
        seconds = {which: measured[which]() for which in order}
        ratios.append(seconds[0] / seconds[1])
    job.close()
    above = sum(ratio > 1 for ratio in ratios)
    print(" ".join(f"{ratio:.3f}" for ratio in ratios))
    print(f"median {statistics.median(ratios):.4f}, {above} of {len(ratios)} above 1")


if __name__ == "__main__":
    main()
