"""What it gains to run the last transforms on the GPU: predicted and measured, in four set-ups.

    python bench/python/on_device.py [--budget 20] [--many 12]

Runs examples/python/train_images.py with few and many workers, with a small model and resnet18.
Needs a GPU. A row per change: samples/s with it, predicted and measured, and the gain.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from figures import find_command, machine, revision

_ROOT = Path(__file__).resolve().parents[2]
_CHANGES = ("transforms[3]=device", "transforms[4]=device")


def report_of(options: argparse.Namespace, workers: int, model: str) -> Any:
    """None if it could not be measured."""
    script = [str(_ROOT / "examples/python/train_images.py"), "--pin", "--batch", "64"]
    script += ["--workers", str(workers), "--model", model]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        command = [find_command(), "run", "--budget", str(options.budget), "--quiet"]
        for change in _CHANGES:
            command += ["--what-if", change]
        command += ["--verify", "--json", str(file), "--", sys.executable, *script]
        done = subprocess.run(command, capture_output=True, text=True)
        if not file.exists():
            print(done.stderr, file=sys.stderr, flush=True)
            return None
        return json.loads(file.read_text())


def percent(part: Any, live: float) -> str:
    if part is None or part["samples_per_second"] is None:
        return ""
    value, interval = part["samples_per_second"], part["interval"]
    ends = " to ".join(f"{100 * (end / live - 1):.0f}" for end in interval or ())
    return f"{100 * (value / live - 1):+.0f}%" + (f" ({ends})" if ends else "")


def rows_of(report: Any, setup: str) -> list[str]:
    live = report["live"]["samples_per_second"]
    rows = []
    for answer in report["what_ifs"]:
        predicted, measured = (percent(answer[key], live) for key in ("predicted", "measured"))
        rows.append(f"| {setup} | {live:,.0f} | {answer['change']} | {predicted} | {measured} |")
        if answer["note"]:
            print(f"{setup}, {answer['change']}: {answer['note']}", file=sys.stderr)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=20, help="seconds of each run")
    parser.add_argument("--many", type=int, default=12, help="workers")
    options = parser.parse_args()
    today = {"date": datetime.date.today().isoformat(), "revision": revision()}
    print(machine([today]) + "\n", flush=True)
    print("| set-up | live, samples/s | change | predicted | measured |", flush=True)
    print("|---|---|---|---|---|", flush=True)
    for model in ("small", "resnet18"):
        for workers in (2, options.many):
            report = report_of(options, workers, model)
            if report is None:
                continue
            setup = f"{model}, {workers} workers"
            print("\n".join(rows_of(report, setup)), flush=True)
            print(f"{setup}: {report['verdict']['text']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
