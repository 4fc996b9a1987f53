"""What the programs that take figures share: finished pieces in a file, intervals, tables."""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

ROOT = Path(__file__).resolve().parents[2]

_T99 = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012,
    2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779,
    2.771, 2.763, 2.756, 2.750,
)  # fmt: skip
"""99.5% points of Student's t with 1 to 30 degrees of freedom; the last also serves for more."""


class Interval(NamedTuple):
    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def meets(self, other: Interval) -> bool:
        """True if the two have a value in common."""
        return self.low <= other.high and other.low <= self.high


class Records:
    """Finished pieces of work, one JSON object per line of `path`; None: in memory alone.

    A piece is in the file as soon as it is finished, so that an interrupted run can be resumed.
    """

    def __init__(self, path: Optional[str]) -> None:
        self._path = Path(path) if path else None
        self._records: list[dict[str, Any]] = []
        if self._path is None or not self._path.exists():
            return
        text = self._path.read_text()
        lines = text.splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                self._records.append(json.loads(line))
            except ValueError:  # The last line, if the run was interrupted while it wrote.
                if number < len(lines):
                    sys.exit(f"{path}:{number}: not a line of JSON; remove it, or use another file")
                self._path.write_text(text[: len(text) - len(line)])

    def select(self, **key: Any) -> list[dict[str, Any]]:
        """The pieces that have these fields, in the order in which they were added."""
        wanted = json.loads(json.dumps(key)).items()
        return [r for r in self._records if all(r.get(k) == value for k, value in wanted)]

    def find(self, **key: Any) -> Optional[dict[str, Any]]:
        """The first piece that has these fields."""
        found = self.select(**key)
        return found[0] if found else None

    def add(self, **fields: Any) -> dict[str, Any]:
        """Keeps a finished piece. Returns it with its date and the revision measured."""
        now = datetime.datetime.now().astimezone()
        record = {**fields, "date": now.strftime("%Y-%m-%d"), "revision": revision()}
        line = json.dumps(record)
        self._records.append(json.loads(line))
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(line + "\n")
        return self._records[-1]


def mean_interval(values: Sequence[float]) -> Optional[Interval]:
    """99% interval of the mean, by Student's t; None for fewer than three values."""
    if len(values) < 3:
        return None
    error = statistics.stdev(values) / math.sqrt(len(values))
    reach = _T99[min(len(values) - 1, len(_T99)) - 1] * error
    mean = statistics.fmean(values)
    return Interval(mean - reach, mean + reach)


def median_interval(values: Sequence[float]) -> Optional[Interval]:
    """99% interval of the median, whatever the distribution; None for fewer than eight values."""
    ordered, count = sorted(values), len(values)
    tail, dropped = 0.0, -1
    while dropped + 1 < count / 2:
        tail += math.comb(count, dropped + 1) / 2**count
        if 2 * tail > 0.01:
            break
        dropped += 1
    return Interval(ordered[dropped], ordered[count - 1 - dropped]) if dropped >= 0 else None


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> Optional[Interval]:
    """99% interval of ratio_of_medians(): a bootstrap over the pairs (percentiles of 10,000 draws
    with a fixed seed); None for fewer than eight."""
    if len(pairs) < 8:
        return None
    draw = random.Random(1)
    ratios = sorted(ratio_of_medians(draw.choices(pairs, k=len(pairs))) for _ in range(10_000))
    return Interval(ratios[50], ratios[-51])


def ratio_of_medians(pairs: Sequence[tuple[float, float]]) -> float:
    """Ratio of the median of all first figures to that of all second ones: a neighbour's burst
    moves neither."""
    first, second = zip(*pairs)
    return statistics.median(first) / statistics.median(second)


def rate_text(part: int, whole: int) -> str:
    """A share in percent with its 95% Clopper-Pearson interval, such as "95.0% (86-99), 57/60"."""
    if whole == 0:
        return "-"
    low = 0.0 if part == 0 else _solve(whole, part - 1, 0.975)
    high = 1.0 if part == whole else _solve(whole, part, 0.025)
    return f"{part / whole:.1%} ({100 * low:.1f}-{100 * high:.1f}), {part}/{whole}"


def outcomes(found: Sequence[dict[str, Any]], results: Sequence[str]) -> list[str]:
    """Cells of a table: the share of `results[0]`, counts of the others, median and longest run."""
    counts = [str(sum(r["result"] == result for r in found)) for result in results[1:]]
    right = rate_text(sum(r["result"] == results[0] for r in found), len(found))
    times = [r["seconds"] for r in found]
    return [right, *counts, f"{statistics.median(times):.0f} s, {max(times):.0f} s"]


def _solve(whole: int, part: int, probability: float) -> float:
    """The rate at which at most `part` of `whole` has this probability."""
    low, high = 0.0, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        sums = (math.comb(whole, k) * rate**k * (1 - rate) ** (whole - k) for k in range(part + 1))
        low, high = (rate, high) if sum(sums) > probability else (low, rate)
    return (low + high) / 2


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def machine(records: Sequence[dict[str, Any]]) -> str:
    """Where and when `records` were measured, in words."""
    import torch

    name = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    days = sorted({record["date"] for record in records})
    dates = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    revisions = ", ".join(sorted({record["revision"] for record in records}))
    return (
        f"{len(os.sched_getaffinity(0))} CPUs of {models[0] if models else name}, Python "
        f"{platform.python_version()}, torch {torch.__version__}, {dates}, revision {revisions}"
    )


def revision() -> str:
    """The git revision of the source tree; "unknown" outside a git checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def find_command() -> str:
    """CACHEBISECT_BINARY, else the release build."""
    return os.environ.get("CACHEBISECT_BINARY") or str(ROOT / "build/release/bin/cachebisect")


def hook_environment() -> dict[str, str]:
    """This environment, with the hook of this source tree."""
    return {**os.environ, "CACHEBISECT_HOOK": str(ROOT / "python" / "cachebisect" / "_hook")}


def run_command(options: Sequence[str], script: Sequence[str], seconds: float) -> dict[str, Any]:
    """Runs `cachebisect run OPTIONS -- SCRIPT`. Returns the report, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [find_command(), "run", "--no-progress", "--hello-timeout", "120"]
        done = subprocess.run(
            [*command, "--json", str(report), *options, "--", *script],
            capture_output=True, text=True, timeout=seconds, env=hook_environment(),
        )  # fmt: skip
        if not report.exists():
            return {"error": done.stderr[-2000:], "exit_code": done.returncode}
        return dict(json.loads(report.read_text()))
