#!/usr/bin/env python3
"""How long does the first report take, and does it decide?

Runs a command of the tool many times, half of them while another process keeps half a core busy,
in turns, and prints for how many runs the report came within the limit and decided something:

    bench/python/first_minute.py --runs 20                     # the release build, imagefolder.json
    bench/python/first_minute.py --runs 20 -- scripts/run      # with the set-up check
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SLICE_SECONDS = 0.005


class Run(NamedTuple):
    seconds: float
    verdict: str
    sentence: str


def keep_half_a_core_busy() -> None:
    while True:
        end = time.perf_counter() + SLICE_SECONDS
        while time.perf_counter() < end:
            pass
        time.sleep(SLICE_SECONDS)


@contextlib.contextmanager
def half_a_core_taken(taken: bool) -> Iterator[None]:
    if not taken:
        yield
        return
    process = multiprocessing.Process(target=keep_half_a_core_busy, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def run_once(command: list[str]) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        began = time.perf_counter()
        subprocess.run(
            [*command, "--json", str(report)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - began
        verdict = json.loads(report.read_text())["verdict"]
    return Run(seconds, verdict["kind"], verdict["text"])


def summary(name: str, runs: list[Run], limit: float) -> str:
    good = sum(run.seconds <= limit and run.verdict != "inconclusive" for run in runs)
    seconds = sorted(run.seconds for run in runs)
    return (
        f"{name}: {good} of {len(runs)} decide within {limit:g} s; "
        f"median {statistics.median(seconds):.1f} s, longest {seconds[-1]:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--limit", type=float, default=40, help="seconds (40)")
    parser.add_argument(
        "command", nargs="*", help="default: the release build, on imagefolder.json"
    )
    arguments = parser.parse_args()
    pipeline = ["--pipeline", str(ROOT / "pipelines/imagefolder.json"), "--device", "emulated"]
    command = arguments.command or [str(ROOT / "build/release/bin/cachebisect")]
    runs: dict[bool, list[Run]] = {False: [], True: []}
    for index in range(2 * arguments.runs):
        taken = index % 2 == 1
        with half_a_core_taken(taken):
            run = run_once(command + pipeline)
        runs[taken].append(run)
        name = "half a core taken" if taken else "quiet"
        print(f"{name:18} {run.seconds:5.1f} s  {run.verdict:12} {run.sentence[:90]}", flush=True)
    print(summary("quiet", runs[False], arguments.limit))
    print(summary("half a core taken", runs[True], arguments.limit))


if __name__ == "__main__":
    main()
