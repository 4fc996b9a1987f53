"""Is the slow rank of a distributed job found, and no rank blamed for a slow backward pass?

    python bench/python/ranks.py --resume ranks.jsonl [--repetitions 10]

Runs examples/python/torchrun_ddp.py on gloo ranks under `cachebisect run`, with
    stall      150 ms per batch in the loader of rank 2: right is "rank 2, transforms[1] Stall"
    backward   200 ms in the backward pass of rank 1: right is "No rank's input explains ..."
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

from figures import ROOT, Records, machine, outcomes, run_command, table

EXAMPLE = str(ROOT / "examples" / "python" / "torchrun_ddp.py")
CASES = {"stall": (2, 0.150), "backward": (1, 0.200)}
"""Rank and seconds."""
STAGE = "transforms[1] Stall"
NO_RANK = "No rank's input explains"
RESULTS = ("right", "wrong", "inconclusive", "failed")


def planted(case: str, ranks: int) -> tuple[int, float]:
    """The slow rank, and seconds per batch or step."""
    rank, seconds = CASES[case]
    return min(rank, ranks - 1), seconds


def judge(case: str, rank: int, report: dict[str, Any]) -> str:
    """One of RESULTS. A stage without its rank is inconclusive."""
    if "error" in report:
        return "failed"
    verdict = report["verdict"]
    if verdict["kind"] == "inconclusive":
        return "inconclusive"
    if case == "backward":
        return "right" if NO_RANK in verdict["text"] else "wrong"
    if (verdict["kind"], verdict["stage"]) != ("drop", STAGE):
        return "wrong"
    if verdict["rank"] is None:
        return "inconclusive"
    said = f"rank {rank}, {STAGE}" in verdict["text"]
    return "right" if verdict["rank"] == rank and said else "wrong"


def run_once(case: str, arguments: argparse.Namespace) -> dict[str, Any]:
    rank, seconds = planted(case, arguments.ranks)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node"]
    script = [EXAMPLE, f"--{case}", str(rank), "--seconds", str(seconds), "--epochs", "100000"]
    began = time.monotonic()
    try:
        report = run_command(
            ["--budget", str(arguments.budget)],
            [*launcher, str(arguments.ranks), *script],
            arguments.timeout,
        )
    except subprocess.TimeoutExpired:
        report = {"error": f"no end within {arguments.timeout:g} s", "exit_code": None}
    found = {"result": judge(case, rank, report), "seconds": time.monotonic() - began}
    if "error" in report:
        return {**found, "text": report["error"]}
    return {
        **found,
        "text": report["verdict"]["text"],
        "measure_seconds": report["timing"]["measure_seconds"],
        "payoffs": report["ranks"],
        "warnings": [warning["code"] for warning in report["warnings"]],
    }


def row_of(case: str, ranks: int, found: list[dict[str, Any]]) -> list[str]:
    rank, seconds = planted(case, ranks)
    words = {"stall": f"loader of rank {rank}", "backward": f"backward pass of rank {rank}"}[case]
    return [f"{seconds * 1e3:.0f} ms in the {words}", *outcomes(found, RESULTS)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=10, help="of each case (10)")
    parser.add_argument("--ranks", type=int, default=4, help="with 2, rank 1 stalls (4)")
    parser.add_argument("--budget", type=float, default=300, help="seconds per verdict (300)")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds per run (1200)")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--resume", metavar="FILE", help="keeps finished runs, one per line")
    arguments = parser.parse_args()
    records = Records(arguments.resume)
    rows, everything = [], []
    for case in arguments.cases.split(","):
        found = []
        for number in range(arguments.repetitions):
            key = {"case": case, "run": number, "ranks": arguments.ranks}
            key["budget"] = arguments.budget
            record = records.find(**key)
            record = record or records.add(**key, **run_once(case, arguments))
            print(f"{case} {number:2} {record['result']:12} {record['seconds']:5.0f} s  ", end="")
            print(record["text"][-300:] if record["result"] == "failed" else record["text"][:150])
            sys.stdout.flush()
            found.append(record)
        rows.append(row_of(case, arguments.ranks, found))
        everything += found
    header = [f"{arguments.ranks} ranks", *RESULTS, "whole run: median, longest"]
    print("\n" + table(header, rows) + "\n\n" + machine(everything))
    return 1 if any(record["result"] in ("wrong", "failed") for record in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
