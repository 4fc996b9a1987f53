"""Climbs the ladder of a profiler tutorial's reader, each step predicted before it is taken.

    python3 bench/ladders/profiler_tutorial.py [--binary BINARY] [--budget 30]

The pipeline is bench/ladders/profiler-tutorial.json, on the emulated device. From the third step on
the reader changed the training step itself: its time per 32 samples is the reader's own, and what
is predicted is how far the input lets it count. A row gives the throughput that the step before it
predicted, what was measured, with a 99% interval, and what the reader measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).parent
_BATCH = 32
_FIRST_STEP_MS = 25.3


@dataclass
class Row:
    """`settings`: as --set takes them, besides those of the rows before."""

    change: str
    reader: str
    """Samples per second that the reader reports, or makes of the reader's step time."""
    settings: list[str] = field(default_factory=list)
    what_if: str = ""
    remedy: str = ""
    """Id of the remedy that predicts it, where no what-if does."""
    step_ms: Optional[float] = None


ROWS = [
    Row("as it is", "400 (80 ms)"),
    Row(
        "8 workers", "865 (37 ms)", ["workers=8", "prefetch=8"], what_if="workers=8"
    ),
    Row(
        "pinned memory, copied ahead of the step", "1,200",
        ["stages.copy.pinned=true", "stages.copy.non_blocking=true", "stages.copy.prefetch=2"],
        remedy="overlap_copy",
    ),
    Row("batches of 512", "1,584", step_ms=20.2),
    Row("uint8 on the bus", "1,670", ["stages.read.bytes=1505"], step_ms=19.16),
    Row("gradients set to None", "1,670", step_ms=19.16),
    Row("mixed precision", "2,477", step_ms=12.92),
    Row("a compiled graph", "3,268", step_ms=9.79),
]  # fmt: skip


def question(row: Row, step_ms: float) -> str:
    """The what-if that predicts `row`; empty if a remedy does."""
    if row.step_ms is None:
        return row.what_if
    return f"train*{row.step_ms / step_ms:.6f}"


def measured(binary: str, settings: list[str], asked: str, budget: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [binary, "--pipeline", str(HERE / "profiler-tutorial.json"), "--no-progress"]
        for setting in settings:
            command += ["--set", setting]
        if asked:
            command += ["--what-if", asked]
        command += ["--budget", str(budget), "--json", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        report: dict[str, Any] = json.loads(path.read_text())
        return report


def predicted_for(row: Row, report: dict[str, Any]) -> str:
    live = report["live"]["samples_per_second"]
    for what_if in report["what_ifs"]:
        predicted = what_if["predicted"]
        return figure(predicted["samples_per_second"], predicted["interval"])
    for remedy in report["remedies"]:
        gain, interval = remedy["predicted"], remedy["predicted_interval"]
        if remedy["id"] == row.remedy and gain is not None and interval is not None:
            return figure(live + gain, [live + end for end in interval])
    return "-"


def figure(value: Optional[float], interval: Optional[list[float]]) -> str:
    if value is None:
        return "-"
    if interval is None:
        return f"{value:,.0f}"
    return f"{value:,.0f} ({interval[0]:,.0f} to {interval[1]:,.0f})"


def climb(binary: str, budget: float) -> None:
    print("| step | predicted | measured | x start | the reader's | the verdict then |")
    print("|---|---|---|---|---|---|")
    settings: list[str] = []
    predicted, step_ms, start = "", _FIRST_STEP_MS, 0.0
    for row, following in zip(ROWS, [*ROWS[1:], None]):
        settings += row.settings
        step_ms = row.step_ms or step_ms
        asked = question(following, step_ms) if following else ""
        report = measured(binary, [*settings, f"emulate.step_ms={step_ms}"], asked, budget)
        live = report["live"]
        rate = live["samples_per_second"]
        start = start or rate
        text = figure(rate, live["interval"])
        verdict = report["verdict"]["stage"] or report["verdict"]["kind"]
        times = f"{rate / start:.2f}"
        print("|", " | ".join([row.change, predicted, text, times, row.reader, verdict]), "|")
        predicted = predicted_for(following, report) if following else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/release/bin/cachebisect")
    parser.add_argument("--budget", type=float, default=30)
    arguments = parser.parse_args()
    climb(arguments.binary, arguments.budget)


if __name__ == "__main__":
    main()
