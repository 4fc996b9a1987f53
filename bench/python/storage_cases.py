"""What the report says of storage, for ways of reading that public threads have found to be slow.

    python bench/python/storage_cases.py [--cases gets kept] [--budget 60]

Runs storage_loop.py, unchanged, under `cachebisect run`; needs requests and h5py. A row per case:
the verdict, what was counted per sample, the remedies, whether that is what must be said, and what
8 threads per worker give, predicted and measured.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

from figures import find_command, machine, revision

_HERE = Path(__file__).resolve().parent


class Case(NamedTuple):
    must_say: str
    holds: Callable[[Any], bool]
    """Of a report."""


def per_sample(report: Any, key: str) -> float:
    return float(report["storage"][key]) / float(report["storage"]["samples"])


def remedies(report: Any) -> list[str]:
    return [remedy["id"] for remedy in report["remedies"]]


def one_in_flight(report: Any) -> bool:
    return report["storage"]["most_in_flight"] == 1 and "in_flight" in remedies(report)


CASES = {
    "gets": Case(
        "one request in flight, a client and a connection for each",
        lambda r: (
            one_in_flight(r) and "one_client" in remedies(r) and per_sample(r, "clients") == 1
        ),
    ),
    "kept": Case(
        "one request in flight, no client and no connection",
        lambda r: (
            one_in_flight(r)
            and "one_client" not in remedies(r)
            and r["storage"]["clients"] == r["storage"]["connections"] == 0
        ),
    ),
    "throttled": Case(
        "503 to a third of the requests",
        lambda r: any(warning["code"] == "storage_throttled" for warning in r["warnings"]),
    ),
    "chunks": Case(
        "15 MB read for each 60 kB",
        lambda r: "fewer_bytes" in remedies(r) and 10e6 < per_sample(r, "file_bytes") < 20e6,
    ),
    "opens": Case(
        "the same file opened again",
        lambda r: "open_once" in remedies(r),
    ),
}


@contextlib.contextmanager
def served() -> Iterator[str]:
    command = [sys.executable, str(_HERE / "storage_server.py")]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stdin is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.stdin.close()
        server.wait(10)


def report_of(name: str, server: str, folder: str, budget: float) -> Any:
    """None if it could not be measured."""
    file = Path(folder) / f"{name}.json"
    command = [find_command(), "run", "--budget", str(budget), "--quiet", "--json", str(file)]
    command += ["--what-if", "read_threads=8", "--verify", "--", sys.executable]
    command += [str(_HERE / "storage_loop.py"), "--case", name, "--server", server]
    done = subprocess.run([*command, "--data", folder], capture_output=True, text=True)
    if not file.exists():
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr, flush=True)
        return None
    return json.loads(file.read_text())


def rate(figure: Any) -> str:
    if figure is None or figure["samples_per_second"] is None:
        return "-"
    ends = " to ".join(f"{end:,.0f}" for end in figure["interval"] or ())
    return f"{figure['samples_per_second']:,.0f}" + (f" ({ends})" if ends else "")


def row(name: str, report: Any) -> str:
    if report is None or report["storage"] is None:
        return f"| {name} | not measured | | | no | | |"
    counts = ", ".join(
        f"{per_sample(report, key):,.3g} {key}"
        for key in ("requests", "connections", "clients", "file_opens", "file_bytes")
        if report["storage"][key]
    )
    said = "yes" if CASES[name].holds(report) else "NO"
    threads = report["what_ifs"][0]
    cells = [name, report["verdict"]["stage"], counts, ", ".join(remedies(report)), said]
    cells += [rate(threads["predicted"]), f"{rate(threads['measured'])} {threads['note'] or ''}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--budget", type=float, default=60)
    options = parser.parse_args()
    today = {"date": datetime.date.today().isoformat(), "revision": revision()}
    print(machine([today]) + "\n", flush=True)
    print(
        "| case | verdict | per sample | remedies | as it must | 8 threads predicted | measured |"
    )
    print("|---|---|---|---|---|---|---|")
    with served() as server, tempfile.TemporaryDirectory() as folder:
        for name in options.cases:
            print(row(name, report_of(name, server, folder, options.budget)), flush=True)


if __name__ == "__main__":
    main()
