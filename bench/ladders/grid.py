"""A plain grid over workers and a cache, next to `tune`: trials, seconds and what is reached.

    python3 bench/ladders/grid.py [--seconds 8] [--budget 120]

Every point of the grid is timed for some seconds; `tune` starts from the same file. Throughput is
that of the median batch in a run in one piece, in both cases as `time` measures it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
WORKERS = (1, 2, 4, 8)
CACHE = {"use": "cache.memory", "limit_gb": 1.2}

JOBS: dict[str, tuple[list[str], Optional[int]]] = {
    "starved.json": ([], None),
    "imagefolder.json": (["--device", "emulated"], 2),
    "fakecifar-resnet18.json": (["--device", "emulated"], 4),
}
"""Options, and the place of a cache among the stages."""


class Figures:
    """Runs the command on pipelines that differ from a file of pipelines/."""

    def __init__(self, binary: str, name: str, options: list[str], folder: Path) -> None:
        self._binary = binary
        self._options = options
        self._folder = folder
        file = ROOT / "pipelines" / name
        lines = [line for line in file.read_text().splitlines() if not line.startswith("//")]
        self._spec = json.loads("\n".join(lines))
        self.trials = 0

    def rate(self, changes: dict[str, Any], cache_at: Optional[int], seconds: float) -> float:
        """Samples per second of the file with these changes."""
        spec = {**self._spec, **changes}
        if cache_at is not None:
            stages = list(spec["stages"])
            spec["stages"] = [*stages[:cache_at], CACHE, *stages[cache_at:]]
        return self.rate_of(spec, seconds)

    def rate_of(self, spec: Any, seconds: float) -> float:
        self.trials += 1
        file = self._folder / "pipeline.json"
        file.write_text(json.dumps(spec))
        out = self._folder / "times"
        command = [self._binary, "time", "--pipeline", str(file), *self._options, "--quiet"]
        command += ["--max-seconds", str(seconds), "--epochs", "1000", "--no-progress"]
        command += ["--save-dir", str(out), "--json", str(self._folder / "times.json")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        run = json.loads((self._folder / "times.json").read_text())["runs"][0]
        # Of the median batch: caches fill in the first epoch.
        return float(run["batch_size"] / run["parts"]["total"]["p50_seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    built = str(ROOT / "build" / "release" / "bin" / "cachebisect")
    parser.add_argument("--binary", default=os.environ.get("CACHEBISECT_BINARY") or built)
    parser.add_argument("--seconds", type=float, default=8, help="of each point of the grid")
    parser.add_argument("--budget", type=float, default=120, help="of tune")
    options = parser.parse_args()
    print("| job | grid: points | best | after | tune: trials | reached | after |")
    print("|---|---|---|---|---|---|---|")
    for name, (words, place) in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            print(row_of(options, name, words, place, Path(folder)), flush=True)


def row_of(
    options: argparse.Namespace, name: str, words: list[str], place: Optional[int], folder: Path
) -> str:
    grid = Figures(options.binary, name, words, folder)
    began = time.monotonic()
    places = [None] if place is None else [None, place]
    best = max(
        grid.rate({"workers": workers}, at, options.seconds) for workers in WORKERS for at in places
    )
    grid_seconds = time.monotonic() - began
    tuned, ladder = folder / "tuned.json", folder / "ladder.json"
    began = time.monotonic()
    command = [options.binary, "tune", "--pipeline", str(ROOT / "pipelines" / name), *words]
    command += ["--budget", str(options.budget), "--keep", str(tuned), "--json", str(ladder)]
    subprocess.run([*command, "--no-progress"], check=True, stdout=subprocess.DEVNULL)
    tune_seconds = time.monotonic() - began
    trials = len(json.loads(ladder.read_text())["trials"])
    reached = grid.rate_of(json.loads(tuned.read_text()), options.seconds)
    return (
        f"| {name} | {grid.trials - 1} | {best:,.0f} | {grid_seconds:.0f} s | {trials} | "
        f"{reached:,.0f} | {tune_seconds:.0f} s |"
    )


if __name__ == "__main__":
    main()
