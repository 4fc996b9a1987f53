"""What-ifs of unchanged scripts against plain timings of the scripts before and after the change.

    python bench/python/mnist_ladder.py --resume ladder.jsonl [--cases mnist,...] [--data FOLDER]

mnist             examples/python/mnist.py: num_workers 0 to 2, batch 64, .item() each step
threads_gain      bench/python/threads_loop.py: two workers compute with 8 threads each, not 1
threads_no_gain   the same where samples wait: threads do not matter
threads_loss      one worker computes with 2 threads and would be slower with one

Each case runs the script as it is and as it would be changed, in turns, and in between once with
`cachebisect run --what-if CHANGE --verify`. A row says whether the intervals of the report hold the
plain timings (live that of the script as it is, predicted and measured that of the changed script)
and whether the measured change and the plain timings say gain, loss or neither.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Optional

from figures import ROOT, Interval, Records, machine, mean_interval, run_command, table

HERE = ROOT / "bench" / "python"
MNIST = str(ROOT / "examples" / "python" / "mnist.py")
THREADS = str(HERE / "threads_loop.py")


class Case(NamedTuple):
    script: list[str]
    before: list[str]
    after: list[str]
    change: str


CASES = {
    "mnist": Case([MNIST], ["--workers", "0"], ["--workers", "2"], "num_workers=2"),
    "threads_gain": Case([THREADS], ["--threads", "8"], ["--threads", "1"], "worker_threads=1"),
    "threads_no_gain": Case(
        [THREADS, "--waits"], ["--threads", "8"], ["--threads", "1"], "worker_threads=1"
    ),
    "threads_loss": Case(
        [THREADS, "--workers", "1"], ["--threads", "2"], ["--threads", "1"], "worker_threads=1"
    ),
}
FOREVER = ["--epochs", "100000"]


def plain_rates(command: list[str], seconds: float) -> list[float]:
    """Samples per second of each epoch of a script."""
    with tempfile.TemporaryDirectory() as folder:
        rates = Path(folder) / "rates.json"
        timed = [sys.executable, str(HERE / "timed_script.py"), str(rates), *command]
        subprocess.run(timed, check=True, stdout=subprocess.DEVNULL, timeout=seconds)
        return [float(rate) for rate in json.loads(rates.read_text())]


def what_if(report: dict[str, Any]) -> dict[str, Any]:
    """The parts of the report that a row needs."""
    if "error" in report:
        return report
    found = report["what_ifs"][0] if report["what_ifs"] else {}
    return {
        "kind": report["verdict"]["kind"],
        "stage": report["verdict"]["stage"],
        "text": report["verdict"]["text"],
        "live": report["live"],
        "predicted": found.get("predicted"),
        "measured": found.get("measured"),
        "line": found.get("line"),
        "note": found.get("note"),
    }


def run_case(name: str, records: Records, arguments: argparse.Namespace) -> None:
    """Runs what is left of a case, one piece after the other."""
    case = CASES[name]
    script = [*case.script, *arguments.mnist_data] if name == "mnist" else case.script
    epochs = ["--epochs", str(arguments.epochs)]
    half = -(-arguments.rounds // 2)
    pieces = [(number, side) for number in range(arguments.rounds) for side in ("before", "after")]
    for number, side in [*pieces[: 2 * half], (half, "report"), *pieces[2 * half :]]:
        key = {"case": name, "piece": side, "round": number, "epochs": arguments.epochs}
        if records.find(**key):
            continue
        changed = [*script, *(case.after if side == "after" else case.before)]
        if side == "report":
            options = ["--what-if", case.change, "--verify", "--budget", str(arguments.budget)]
            command = [sys.executable, *changed, *FOREVER]
            report = run_command(options, command, arguments.timeout)
            record = records.add(**key, **what_if(report))
            print(f"{name}: {record.get('text') or record.get('error')}", flush=True)
        else:
            rates = plain_rates([*changed, *epochs], arguments.timeout)
            records.add(**key, rates=rates)
            print(f"{name}, {side}: " + " ".join(f"{rate:,.0f}" for rate in rates), flush=True)


class Plain(NamedTuple):
    rate: float
    interval: Optional[Interval]

    def text(self) -> str:
        if self.interval is None:
            return f"{self.rate:,.0f}"
        return f"{self.rate:,.0f} ({self.interval.low:,.0f} to {self.interval.high:,.0f})"


def plain(records: Records, name: str, side: str, epochs: int) -> Plain:
    found = records.select(case=name, piece=side, epochs=epochs)
    rates = [rate for record in found for rate in record["rates"]]
    return Plain(statistics.fmean(rates), mean_interval(rates))


def interval_of(figure: Optional[dict[str, Any]]) -> Optional[Interval]:
    if figure is None or not figure["interval"] or None in figure["interval"]:
        return None
    return Interval(*figure["interval"])


def figure_text(figure: Optional[dict[str, Any]], timing: Plain, live: Optional[float]) -> str:
    """A figure of the report, its gain over `live`, its interval, and whether that holds the plain
    timing, or at least meets the interval of it."""
    if figure is None or figure["samples_per_second"] is None:
        return "none"
    rate = figure["samples_per_second"]
    text = f"{rate:,.0f}" + (f", {rate / live - 1:+.0%}" if live else "")
    interval = interval_of(figure)
    if interval is None:
        return text + ", no interval"
    text += f" ({interval.low:,.0f} to {interval.high:,.0f})"
    if interval.holds(timing.rate):
        return text + ", holds"
    meets = timing.interval is not None and interval.meets(timing.interval)
    return text + (", meets" if meets else ", **misses**")


def direction(before: Optional[Interval], after: Optional[Interval]) -> str:
    """What two intervals say of a change."""
    if before is None or after is None:
        return "unknown"
    if before.meets(after):
        return "no gain"
    return "gain" if after.low > before.high else "loss"


def row_of(name: str, records: Records, epochs: int) -> list[str]:
    before, after = (plain(records, name, side, epochs) for side in ("before", "after"))
    report = records.find(case=name, piece="report", epochs=epochs)
    assert report is not None
    if "error" in report:
        return [name, CASES[name].change, f"no report: exit code {report['exit_code']}", *["-"] * 6]
    live = report["live"]["samples_per_second"]
    told = direction(interval_of(report["live"]), interval_of(report["measured"]))
    return [
        name,
        CASES[name].change,
        report["stage"] or report["kind"],
        before.text(),
        figure_text(report["live"], before, None),
        after.text(),
        figure_text(report["predicted"], after, live),
        figure_text(report["measured"], after, live),
        f"{told}; plain: {direction(before.interval, after.interval)}",
    ]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--data", metavar="FOLDER", help="of MNIST; by default images are random")
    parser.add_argument("--budget", type=float, default=120, help="seconds per report (120)")
    parser.add_argument("--rounds", type=int, default=4, help="plain runs of each side (4)")
    parser.add_argument("--epochs", type=int, default=3, help="per plain run (3)")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds per piece (1200)")
    parser.add_argument("--resume", metavar="FILE", help="keeps finished pieces, one per line")
    arguments = parser.parse_args()
    arguments.mnist_data = ["--data", arguments.data] if arguments.data else ["--fake"]
    return arguments


def main() -> None:
    arguments = parse()
    names = arguments.cases.split(",")
    records = Records(arguments.resume)
    for name in names:
        run_case(name, records, arguments)
    header = [
        "case", "change", "stage named", "plain before", "live", "plain after", "predicted",
        "measured", "says",
    ]  # fmt: skip
    rows = [row_of(name, records, arguments.epochs) for name in names]
    print("\n" + table(header, rows))
    print("\nSamples per second, with 99% intervals. " + machine(records.select()))


if __name__ == "__main__":
    main()
