#!/usr/bin/env python3
"""How often is the gate of `cachebisect compare --run` wrong on this machine?

Measures planted chains on the emulated device: each against itself, where the gate must not fire,
and against one whose live loop takes 10% more time per sample, where it must.

    bench/compare_gate.py [--same 100] [--slower 20] [--gate 'live<-5%'] [--tool PATH]

Prints a Markdown table with the machine and the date.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FIRED = 5
"""The exit code of a gate that fired."""


class Chain(NamedTuple):
    """A chain whose loader limits the loop, by one stage that takes `us` per sample."""

    name: str
    stage: str
    us: float
    workers: int

    def pipeline(self, slowdown: float) -> dict[str, object]:
        return {
            "name": self.name,
            "batch_size": 16,
            "workers": self.workers,
            "stages": [
                {"use": "synthetic.read", "bytes": 4096, "samples": 100000},
                {"use": self.stage, "name": "slow", "us": self.us * slowdown},
                {"use": "collate.stack"},
                {"use": "copy.device", "prefetch": 2},
            ],
            "train": {"kind": "emulated"},
            "device": "emulated",
            "emulate": {"step_ms": 2},
        }


CHAINS = (
    Chain("waits", "synthetic.wait", 300, 1),
    Chain("computes", "synthetic.cpu", 300, 1),
    Chain("computes on two cores", "synthetic.cpu", 600, 2),
)


class Outcomes(NamedTuple):
    fired: int
    undecided: int
    runs: int
    seconds: float

    def row(self) -> str:
        return f"{self.fired} of {self.runs} ({self.undecided} not decided, {self.seconds:.1f} s)"


def compare(tool: Path, files: tuple[Path, Path], gate: str, result: Path) -> tuple[bool, bool]:
    """Whether the gate fired, and whether it was undecided."""
    done = subprocess.run(
        [tool, "compare", "--run", *files, "--fail-on", gate, "--json", result, "--no-progress"],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode not in (0, FIRED):
        raise SystemExit(f"{tool} compare ended with {done.returncode}")
    outcome = json.loads(result.read_text())["gates"][0]["outcome"]
    return done.returncode == FIRED, outcome == "undecided"


def repeat(tool: Path, chain: Chain, slowdown: float, gate: str, runs: int) -> Outcomes:
    fired = undecided = 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        files = (Path(folder) / "a.json", Path(folder) / "b.json")
        files[0].write_text(json.dumps(chain.pipeline(1)))
        files[1].write_text(json.dumps(chain.pipeline(slowdown)))
        for _ in range(runs):
            did_fire, open_end = compare(tool, files, gate, Path(folder) / "result.json")
            fired += did_fire
            undecided += open_end
    return Outcomes(fired, undecided, runs, (time.monotonic() - started) / max(1, runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--same", type=int, default=100, help="runs of each chain against itself")
    parser.add_argument("--slower", type=int, default=20, help="runs against one that is slower")
    parser.add_argument("--gate", default="live<-5%")
    parser.add_argument("--tool", type=Path, default=ROOT / "build/release/bin/cachebisect")
    arguments = parser.parse_args()
    today = datetime.date.today().isoformat()
    load = os.getloadavg()[0]
    print(f"{today}, {os.cpu_count()} CPUs, load average {load:.1f} at the start\n")
    print("| chain | against itself | against one that takes 10% longer |\n|---|---|---|")
    for chain in CHAINS:
        same = repeat(arguments.tool, chain, 1, arguments.gate, arguments.same)
        slower = repeat(arguments.tool, chain, 1.1, arguments.gate, arguments.slower)
        print(f"| {chain.name} | {same.row()} | {slower.row()} |", flush=True)
    print(f"\nload average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
