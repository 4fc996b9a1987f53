"""What measuring costs the measured: three ratios, each in rounds that take turns.

    python bench/python/live_rate.py --resume live_rate.jsonl [--parts ratio,batch,pass,engine]

ratio   seconds per batch of live blocks through the shadow loader over those of the untouched
        loader, of five loaders. Each round starts fresh workers for the shadow loader, for the
        loader as it is, and for the same once more: the control, whose ratio shows what chance
        does. New workers are up to 15% faster in their first second, so that as many batches as
        are timed go before. The loop only pulls batches, so that nothing hides a difference. The
        same ratios of CPU time per batch, workers included, depend less on what else the cores do;
        where workers compute, it is what a batch costs.
batch   microseconds of CPU that a live step takes more than a batch of the loader as it is, without
        workers, in one process in turns of four batches: with the timing of stages and without it,
        and for samples that cost nothing.
pass    the same for the iterator of `cachebisect run` before it measures, over no hook at all, at
        1 ms per sample. The samples compute: a sleep ends late by more than passing through costs.
engine  CPU time of the command during blocks, over the time that the blocks took.

Ratios of the first are those of the median instances, with 99% intervals by a bootstrap over the
rounds. The others are medians over rounds with 99% intervals. Both need eight rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, NamedTuple, Optional
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import torch
from figures import (
    Interval,
    Records,
    machine,
    median_interval,
    ratio_interval,
    ratio_of_medians,
    table,
)
from live_rate_loaders import LOADERS, computing, waiting
from torch.optim import SGD
from torch.utils.data import DataLoader

import cachebisect
from cachebisect._follow.loaders import Level
from cachebisect._job.blocks import Block
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._script.session import Session

PARTS = ("ratio", "batch", "pass", "engine")
PASS_STEPS = 50
"""After 60 steps the iterator would begin to measure."""
PASS_WARMUP = 5
LIMITS = {"ratio": 0.02, "pass": 0.005, "engine": 0.01}


class Cost(NamedTuple):
    """The cost of one batch, in seconds."""

    wall: float
    cpu: float
    """CPU time of this process and the loader's workers."""


def cpu_seconds(batches: Iterator[Any]) -> float:
    """CPU time so far of this process and of the workers of a DataLoader's iterator."""
    workers = [worker.pid for worker in getattr(batches, "_workers", ())]
    return time.process_time() + sum(time.clock_gettime((~pid << 3) | 2) for pid in workers)


def cost_per_batch(batches: Iterator[Any], warmup: int, steps: int) -> Cost:
    for _ in range(warmup):
        next(batches)
    began, cpu = time.perf_counter(), cpu_seconds(batches)
    for _ in range(steps):
        next(batches)
    wall = time.perf_counter() - began
    return Cost(wall / steps, (cpu_seconds(batches) - cpu) / steps)


def live(job: Job, warmup: int, steps: int) -> Cost:
    """The cost of a step of a live block."""
    arm = {"kind": "replay", "boundary": 0, "observed": True}
    block = job.begin_block({"arm": arm, "steps": steps, "warmup_steps": warmup})
    while not block.enter():
        block.take()
    block.end()
    result = block.result()
    return Cost(result["seconds"] / result["steps"], result["cpu_seconds"] / result["steps"])


def ratio_of(number: int, observed: Callable[[], float], plain: Callable[[], float]) -> float:
    """Every other round begins with the plain one."""
    if number % 2:
        return observed() / plain()
    without = plain()
    return observed() / without


def rounds_left(records: Records, key: dict[str, Any], rounds: int) -> list[int]:
    done = {record["round"] for record in records.select(**key)}
    return [number for number in range(rounds) if number not in done]


def fresh_plain(name: str, steps: int) -> Cost:
    """The cost per batch of the loader as it is, with new workers."""
    batches = iter(LOADERS[name]())
    return cost_per_batch(batches, steps, steps)


def fresh_shadow(name: str, steps: int) -> Cost:
    """The same through a new shadow loader."""
    job = Job(LOADERS[name](), KeptState())
    try:
        return live(job, steps, steps)
    finally:
        job.close()


ARMS = {"shadow": fresh_shadow, "plain": fresh_plain, "control": fresh_plain}


def measure_ratios(records: Records, name: str, rounds: int, steps: int) -> None:
    """Live blocks against the loader as it is, and that against itself."""
    key = {"part": "ratio", "loader": name, "steps": steps, "fresh": True}
    for number in rounds_left(records, key, rounds):
        names = list(ARMS)
        turn = names[number % 3 :] + names[: number % 3]
        costs = {arm: ARMS[arm](name, steps) for arm in turn}
        cpu = {f"{arm}_cpu": costs[arm].cpu for arm in names}
        records.add(**key, round=number, **{arm: costs[arm].wall for arm in names}, **cpu)
        words = ", ".join(f"{arm} {1e3 * costs[arm].wall:.2f} ms" for arm in names)
        print(f"{name:38} round {number:2}  {words}", flush=True)


PAIRED = {
    "W 0, computes 1 ms per sample": (lambda: computing(0, 1e-3), True),
    "W 0, computes 1 ms per sample, stages not timed": (lambda: computing(0, 1e-3), False),
    "W 0, samples that cost nothing": (lambda: waiting(0, 0), True),
}
_TURN = 4
_SETTLING_TURNS = 5


def measure_batch(records: Records, rounds: int) -> None:
    """A live step against a batch of the loader as it is."""
    for name, (make, observed) in PAIRED.items():
        key = {"part": "batch", "loader": name}
        left = rounds_left(records, key, rounds)
        if not left:
            continue
        job = Job(make(), KeptState())
        arm = {"kind": "replay", "boundary": 0, "observed": observed}
        block = job.begin_block({"arm": arm, "steps": 1 << 30, "warmup_steps": 1})
        plain = iter(make())

        def step(block: Block = block) -> None:
            block.enter()
            block.take()

        def pull(plain: Iterator[Any] = plain) -> None:
            next(plain)

        for number in (*range(-_SETTLING_TURNS, 0), *left):
            first, second = (step, pull) if number % 2 else (pull, step)
            costs = {run: _cpu_of_turn(run) for run in (first, second)}
            if number >= 0:
                records.add(**key, round=number, shadow=costs[step], plain=costs[pull])
        block.end()
        job.close()
        print(f"{name}: {rounds} turns", flush=True)


def _cpu_of_turn(run: Callable[[], None]) -> float:
    """Seconds per call."""
    began = time.process_time()
    for _ in range(_TURN):
        run()
    return (time.process_time() - began) / _TURN


def batch_row(name: str, turns: list[dict[str, Any]]) -> list[str]:
    more = [1e6 * (turn["shadow"] - turn["plain"]) for turn in turns]
    interval = median_interval(more)
    plain = 1e6 * statistics.median(turn["plain"] for turn in turns)
    shown = "-" if interval is None else f"{interval.low:.0f} to {interval.high:.0f} us"
    words = f"{statistics.median(more):.0f} us of {plain:.0f}"
    return ["a live step, CPU time", name, words, shown, str(len(turns)), "-", "-"]


def passed_on(loader: Any) -> Iterator[Any]:
    """The iterator of `cachebisect run` over `loader`, while optimizer steps are counted."""
    connection: Any = SimpleNamespace(close=lambda: None)
    session = Session(connection)
    optimizer = SGD([torch.zeros(1)], 0.1)
    for batch in session.iterator(loader, DataLoader.__iter__, Level.BASE):
        yield batch
        session.note_step(optimizer)


def measure_pass(records: Records, rounds: int) -> None:
    """Passing through against no hook."""
    key = {"part": "pass", "loader": "W 0, computes 1 ms per sample"}
    loader = computing(0, 1e-3)
    steps = PASS_STEPS - PASS_WARMUP
    for number in rounds_left(records, key, rounds):
        ratio = ratio_of(
            number,
            lambda: cost_per_batch(passed_on(loader), PASS_WARMUP, steps).wall,
            lambda: cost_per_batch(iter(loader), PASS_WARMUP, steps).wall,
        )
        records.add(**key, round=number, value=ratio)
        print(f"passing through, round {number:2}  {ratio - 1:+.3%}", flush=True)


class EngineClock:
    """CPU time of the command while blocks run, and how long they took."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.block_seconds = 0.0
        self._began = (0.0, 0.0)
        self._pid: Optional[int] = None

    def begin(self) -> None:
        self._pid = self._pid or child_named("cachebisect")
        self._began = (self._cpu(), time.monotonic())

    def end(self) -> None:
        self.cpu_seconds += self._cpu() - self._began[0]
        self.block_seconds += time.monotonic() - self._began[1]

    def _cpu(self) -> float:
        assert self._pid is not None
        return time.clock_gettime((~self._pid << 3) | 2)  # Linux: the CPU clock of a process.


def child_named(name: str) -> int:
    """Process id of the child of this process that runs the command `name`."""
    for task in Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                return int(pid)
    raise LookupError(f"no child runs {name}")


def measure_engine(records: Records, rounds: int, budget: float) -> None:
    """The library call on a loader with two workers; one run is one round."""
    key = {"part": "engine", "loader": "W 2, waits 1 ms per sample", "budget": budget}
    clock = EngineClock()
    begin_block, end_block = Job.begin_block, Block.end

    def begin(job: Job, request: dict[str, Any]) -> Block:
        clock.begin()
        return begin_block(job, request)

    def end(block: Block) -> None:
        end_block(block)
        clock.end()

    for number in rounds_left(records, key, rounds):
        clock = EngineClock()
        with mock.patch.object(Job, "begin_block", begin), mock.patch.object(Block, "end", end):
            cachebisect.bisect(
                waiting(2, 1e-3), lambda batch: time.sleep(2e-3), budget=budget, progress=False
            )
        share = clock.cpu_seconds / clock.block_seconds
        records.add(**key, round=number, value=1 + share, block_seconds=clock.block_seconds)
        print(
            f"engine: {share:.3%} of a core during {clock.block_seconds:.1f} s of blocks",
            flush=True,
        )


def ratio_rows(name: str, rounds: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for arm, words in (("shadow", "shadow loader"), ("control", "the same loader again")):
        for suffix, figure in (("", ""), ("_cpu", ", CPU time")):
            pairs = [(r[arm + suffix], r["plain" + suffix]) for r in rounds if "plain_cpu" in r]
            ratio, interval = ratio_of_medians(pairs), ratio_interval(pairs)
            rows.append(_row(words + figure, name, ratio, interval, len(pairs), "ratio"))
    return rows


def row_of(part: str, name: str, values: list[float]) -> list[str]:
    words = {"pass": "passing through", "engine": "engine's CPU"}[part]
    middle = statistics.median(values)
    return _row(words, name, middle, median_interval(values), len(values), part)


def _row(
    words: str, name: str, ratio: float, interval: Optional[Interval], count: int, part: str
) -> list[str]:
    limit = LIMITS[part]
    shown = "-" if interval is None else f"{interval.low - 1:+.2%} to {interval.high - 1:+.2%}"
    within = _within(interval, limit, both=part == "ratio")
    return [words, name, f"{ratio - 1:+.2%}", shown, str(count), f"{limit:.1%}", within]


def _within(interval: Optional[Interval], limit: float, both: bool) -> str:
    if interval is None:
        return "too few rounds"
    above_low = interval.low >= 1 - limit or not both
    return "yes" if interval.high <= 1 + limit and above_low else "no"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--loader", default="", help="ratios of those with this in their name")
    parser.add_argument("--rounds", type=int, default=12, help="of a ratio (12)")
    parser.add_argument("--turns", type=int, default=200, help="of a step and a batch (200)")
    parser.add_argument("--pass-rounds", type=int, default=120, help="of passing through (120)")
    parser.add_argument("--runs", type=int, default=8, help="of the engine (8)")
    parser.add_argument("--steps", type=int, default=192, help="timed batches per round (192)")
    parser.add_argument("--budget", type=float, default=20, help="seconds per run (20)")
    parser.add_argument("--resume", metavar="FILE", help="keeps finished rounds, one per line")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    records = Records(arguments.resume)
    if "ratio" in parts:
        for name in LOADERS:
            if arguments.loader in name:
                measure_ratios(records, name, arguments.rounds, arguments.steps)
    if "batch" in parts:
        measure_batch(records, arguments.turns)
    if "pass" in parts:
        measure_pass(records, arguments.pass_rounds)
    if "engine" in parts:
        measure_engine(records, arguments.runs, arguments.budget)
    rows = []
    for part in parts:
        for name in dict.fromkeys(record["loader"] for record in records.select(part=part)):
            if part == "ratio":
                rows += ratio_rows(name, records.select(part=part, loader=name, fresh=True))
                continue
            if part == "batch":
                rows.append(batch_row(name, records.select(part=part, loader=name)))
                continue
            values = [record["value"] for record in records.select(part=part, loader=name)]
            rows.append(row_of(part, name, values))
    header = ["what", "loader", "costs", "99% interval", "rounds", "limit", "within"]
    print("\n" + table(header, rows) + "\n\n" + machine(records.select()))


if __name__ == "__main__":
    main()
