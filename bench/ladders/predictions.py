"""How far predictions of changes are from what is measured when they are run.

    python3 bench/ladders/predictions.py [--budget 60] [--out RESULTS.jsonl] [--jobs "NAME;..."]

Each job is bisected once, with what-ifs that are then run next to it, in turns (--verify); those of
`tune` are its trials. Jobs in Python need a python3 with torch and torchvision. A row per change:
throughput over that of the job as it is, predicted and measured, with 99% intervals. Below: the
median and the 95th percentile of the errors, and how many intervals held.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
EMULATED = ["--device", "emulated"]
SLOW = 2.5
"""Budgets for a script: those here load some hundred samples per second."""


@dataclass
class Job:
    """`words`: what the command gets; `changes`: what-ifs; none: `tune` finds them. `photos`: it
    reads the generated ones so many times over, more than memory holds once they are decoded."""

    name: str
    words: list[str]
    changes: list[str]
    photos: int = 0

    @property
    def is_script(self) -> bool:
        return self.words[0] == "run"


def pipeline(name: str, *options: str) -> list[str]:
    return ["--pipeline", str(ROOT / "pipelines" / name), *options]


def script(name: str, *options: str) -> list[str]:
    return ["--", sys.executable, str(ROOT / "examples" / "python" / name), *options]


JOBS = [
    Job(
        "starved.json", pipeline("starved.json"),
        ["workers=1", "workers=3", "workers=4", "workers=8", "tokenize=free", "parse=free",
         "tokenize/2"],
    ),
    Job(
        "imagefolder.json", pipeline("imagefolder.json", *EMULATED, "--workers", "2"),
        ["workers=1", "workers=3", "workers=4", "decode=free", "crop=free", "normalize=free"],
    ),
    Job(
        "imagefolder.json, 1 worker", pipeline("imagefolder.json", *EMULATED, "--workers", "1"),
        ["workers=2", "workers=4", "decode=free", "crop=free"],
    ),
    Job(
        "fakecifar-resnet18.json", pipeline("fakecifar-resnet18.json", *EMULATED),
        ["workers=1", "workers=2", "resize=free", "copy=free", "normalize=free"],
    ),
    Job("cifar.json", pipeline("cifar.json"), ["workers=2", "workers=4"]),
    Job("mnist.json", pipeline("mnist.json"), ["workers=2", "workers=4"]),
    Job("starved.json, tune", ["tune", *pipeline("starved.json")], []),
    Job("imagefolder.json, tune", ["tune", *pipeline("imagefolder.json", *EMULATED)], []),
    Job("fakecifar-resnet18.json, tune",
        ["tune", *pipeline("fakecifar-resnet18.json", *EMULATED)], []),
    Job("late-crop.json, tune",
        ["tune", "--pipeline", str(ROOT / "bench" / "ladders" / "late-crop.json")], []),
    Job("imagefolder.json, 400,000 photos, tune",
        ["tune", *pipeline("imagefolder.json", *EMULATED, "--workers", "2")], [], photos=200),
    Job(
        "train_images.py", ["run", *script("train_images.py")],
        ["num_workers=2", "cache=transforms[0]", "transforms[0]=free", "prefetch_factor=4"],
    ),
    Job(
        "train_images.py, 2 workers", ["run", *script("train_images.py", "--workers", "2")],
        ["num_workers=1", "cache=transforms[0]", "transforms[0]=free"],
    ),
    Job(
        "mnist.py", ["run", *script("mnist.py", "--fake", "--epochs", "1000")],
        ["num_workers=1", "num_workers=2", "cache=transforms[1]"],
    ),
]  # fmt: skip


@dataclass
class Row:
    """Ratios to the job as it is. Intervals: of the prediction, of the measurement."""

    job: str
    change: str
    predicted: float
    within: tuple[float, float]
    measured: float
    between: tuple[float, float]

    @property
    def error(self) -> float:
        return abs(self.predicted / self.measured - 1)

    @property
    def held(self) -> bool:
        return self.within[0] <= self.measured <= self.within[1]

    @property
    def met(self) -> bool:
        """Both intervals have a value in common."""
        return self.within[0] <= self.between[1] and self.between[0] <= self.within[1]


def many_photos(folder: Path, times: int) -> list[str]:
    """The option that makes a job read the generated photos so many times over."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    classes = sorted((cache / "cachebisect" / "photos").glob("class_*"))
    if not classes:
        raise SystemExit("run pipelines/imagefolder.json once: it makes the photos")
    for number in range(times):
        for one in classes:
            (folder / f"{number:04}_{one.name}").symlink_to(one)
    return ["--set", f"stages.read.path={folder}"]


def report_of(binary: str, job: Job, budget: float) -> Any:
    """None if the command failed."""
    words = job.words if not job.words[0].startswith("--") else ["bisect", *job.words]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as photos:
        file = Path(folder) / "report.json"
        words = words + (many_photos(Path(photos), job.photos) if job.photos else [])
        command = [binary, words[0], "--budget", str(budget), "--json", str(file)]
        command += ["--no-progress"]
        for change in job.changes:
            command += ["--what-if", change]
        command += ["--verify"] if job.changes else []
        done = subprocess.run([*command, *words[1:]], capture_output=True, text=True)
        if not file.exists() or not file.stat().st_size:
            print(f"{job.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        return json.loads(file.read_text())


def rows_of(job: Job, report: Any) -> Iterator[Row]:
    if job.changes:
        live = report["live"]["samples_per_second"]
        for answer in report["what_ifs"]:
            row = row_of(job, answer["change"], answer["predicted"], answer["measured"], live)
            if row is not None:
                yield row
        return
    for trial in report["trials"]:
        figures = [trial["predicted"], trial["measured"]]
        if all(one["gain"] is not None and one["interval"] for one in figures):
            ratios = [(1 + one["gain"], [1 + end for end in one["interval"]]) for one in figures]
            (predicted, within), (measured, between) = ratios
            yield Row(job.name, trial["text"], predicted, within, measured, between)


def row_of(job: Job, change: str, predicted: Any, measured: Any, live: float) -> Optional[Row]:
    figures = [predicted, measured]
    if any(one["samples_per_second"] is None or not one["interval"] for one in figures):
        return None
    # What is measured is in turns with live, in the same rounds.
    ratios = [(one["samples_per_second"] / live, [end / live for end in one["interval"]])
              for one in figures]  # fmt: skip
    return Row(job.name, change, *ratios[0], *ratios[1])


def share(part: float, ends: tuple[float, float]) -> str:
    low, high = (100 * (end - 1) for end in ends)
    return f"{100 * (part - 1):+.0f}% ({low:.0f} to {high:.0f})"


def show(rows: list[Row]) -> None:
    print("| job | change | predicted | measured | error | held |\n|---|---|---|---|---|---|")
    for row in rows:
        held = "yes" if row.held else "almost" if row.met else "no"
        figures = f"{share(row.predicted, row.within)} | {share(row.measured, row.between)}"
        print(f"| {row.job} | {row.change} | {figures} | {100 * row.error:.1f}% | {held} |")
    errors = sorted(row.error for row in rows)
    at95 = errors[min(len(errors) - 1, int(0.95 * len(errors)))]
    held, met = sum(row.held for row in rows), sum(row.met for row in rows)
    print(f"\n{len(rows)} changes: median error {100 * statistics.median(errors):.1f}%, 95th "
          f"percentile {100 * at95:.1f}%; {held} intervals hold what was measured, {met} meet its "
          "interval.")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    built = str(ROOT / "build" / "release" / "bin" / "cachebisect")
    parser.add_argument("--binary", default=os.environ.get("CACHEBISECT_BINARY") or built)
    parser.add_argument(
        "--budget", type=float, default=60, help="seconds of a job; more of a script"
    )
    parser.add_argument("--jobs", default="", help="names, separated by semicolons")
    parser.add_argument("--out", type=Path, help="a line of JSON per change")
    options = parser.parse_args()
    wanted = [job for job in JOBS if not options.jobs or job.name in options.jobs.split(";")]
    rows: list[Row] = []
    for job in wanted:
        budget = options.budget * (SLOW if job.is_script else 1)
        report = report_of(options.binary, job, budget)
        found = list(rows_of(job, report)) if report is not None else []
        print(f"{job.name}: {len(found)} changes", file=sys.stderr, flush=True)
        rows += found
        if options.out is not None:
            options.out.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    show(rows)


if __name__ == "__main__":
    main()
