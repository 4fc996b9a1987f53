"""Plants a slow stage into DataLoaders by seed, and compares verdicts with fresh loaders.

    CACHEBISECT_BINARY=build/release/bin/cachebisect python bench/python/planted.py \
        --seeds 1:60 --resume planted.jsonl

The truth of a loader is measured without any part of cachebisect: for every boundary a fresh
DataLoader is made whose stages up to there give constants. A verdict is right if it names the stage
whose fresh loaders differ most in seconds per sample (any of those within --close of it), or says
that nothing is lost if the whole loss is below the smallest drop worth naming. Spans that hold that
stage are inconclusive. A printed 99% interval covers the truth if it meets the interval that fresh
loaders give. Everything is drawn from the seed. Copies go to torch's "meta" device, and wait or
compute as long as a real one would take. Pinning needs an accelerator and is not planted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from figures import Records, machine, rate_text, table
from planted_loaders import DEVICE, Plan, Step, loader_of
from planted_truth import Truth, coverage, decided_truth, judge, truth_of

import cachebisect

RESULTS = ("right", "wrong", "inconclusive")
REPORT_FIELDS = ("verdict", "settings", "loss", "stages", "spans", "warnings", "timing")
_FAST_STEP = 0.010


def run_case(plan: Plan, arguments: argparse.Namespace) -> dict[str, Any]:
    """Bisects one planted loader, then measures its truth. Both are kept; others judge them."""
    began = time.monotonic()
    report = cachebisect.bisect(
        loader_of(plan, 0, plan.method), Step(plan), device=DEVICE if plan.copy else None,
        budget=arguments.budget, explain=False, progress=False,
    ).to_dict()  # fmt: skip
    took = time.monotonic() - began
    return {
        "plan": vars(plan),
        "passes": truth_of(plan, arguments.truth_seconds).passes,
        "seconds": took,
        "report": {key: report[key] for key in REPORT_FIELDS},
    }


def passes_of(
    record: dict[str, Any], records: Records, arguments: argparse.Namespace
) -> list[list[float]]:
    """What fresh loaders measured, with as many passes as the truth needs to be decided."""
    plan = Plan(**record["plan"])
    key = {"figure": "planted_truth", "seed": plan.seed, "settings": record["settings"]}
    found = records.find(**key)
    if found is None:
        truth = Truth(record["passes"])
        truth = decided_truth(plan, truth, arguments.truth_seconds, arguments.close)
        found = records.add(**key, passes=truth.passes)
    passes: list[list[float]] = found["passes"]
    return passes


def judged(record: dict[str, Any], close: float) -> dict[str, Any]:
    """A finished case with its result and the intervals that hold."""
    plan, truth, report = Plan(**record["plan"]), Truth(record["passes"]), record["report"]
    held = coverage(report, truth)
    return {**record, "result": judge(report, plan, truth, close), **held._asdict()}


def line_of(case: dict[str, Any]) -> str:
    """A judged case in one line."""
    plan, verdict = Plan(**case["plan"]), case["report"]["verdict"]
    costs = " ".join(f"{cost * 1e6:.0f}" for cost in Truth(case["passes"]).costs)
    style = "iterable" if plan.iterable else "map"
    return (
        f"{plan.seed:3} {case['result']:12} planted {plan.place:13} "
        f"named {verdict['stage'] or verdict['kind']:28} W {plan.workers} "
        f"{plan.method or '-':10} {style:8} {case['seconds']:5.1f} s  "
        f"intervals {case['covered']} of {case['intervals']}  us per sample: {costs}"
    )


def row_of(name: str, cases: list[dict[str, Any]]) -> list[str]:
    counts = [rate_text(sum(c["result"] == r for c in cases), len(cases)) for r in RESULTS]
    covered = sum(c["covered"] for c in cases), sum(c["intervals"] for c in cases)
    seconds = sorted(case["seconds"] for case in cases)
    times = f"{statistics.median(seconds):.1f} s, {seconds[-1]:.1f} s"
    return [name, *counts, rate_text(*covered), times]


def summary(cases: list[dict[str, Any]]) -> str:
    """The table for docs/understand/accuracy.md, and what went wrong."""
    header = ["planted in", *RESULTS, "99% intervals cover the truth", "seconds: median, longest"]
    places = sorted({case["plan"]["place"] for case in cases})
    by_place = [(p, [c for c in cases if c["plan"]["place"] == p]) for p in places]
    fast = [c for c in cases if c["plan"]["step"] <= _FAST_STEP]
    rows = [row_of(place, chosen) for place, chosen in by_place]
    rows += [row_of("steps up to 10 ms", fast), row_of("all", cases)]
    lines = [table(header, rows), "", machine(cases)]
    for case in cases:
        lines += [f"seed {case['plan']['seed']}, interval of {words}" for words in case["missed"]]
        if case["result"] == "wrong":
            text = case["report"]["verdict"]["text"]
            lines.append(f"seed {case['plan']['seed']} is wrong: {text}")
    return "\n".join(lines)


def parse(command: Optional[list[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="1:60", metavar="FIRST:LAST")
    parser.add_argument("--budget", type=float, default=30, help="seconds per verdict (30)")
    parser.add_argument("--truth-seconds", type=float, default=2.5, help="per boundary (2.5)")
    parser.add_argument("--close", type=float, default=0.2, help="share of the largest cost (0.2)")
    parser.add_argument("--resume", metavar="FILE", help="keeps finished cases, one per line")
    return parser.parse_args(command)


def main() -> int:
    arguments = parse()
    first, last = (int(n) for n in arguments.seeds.split(":"))
    records = Records(arguments.resume)
    settings = [arguments.budget, arguments.truth_seconds]
    cases = []
    for seed in range(first, last + 1):
        key = {"figure": "planted", "seed": seed, "settings": settings}
        record = records.find(**key)
        record = record or records.add(**key, **run_case(Plan.draw(seed), arguments))
        record = {**record, "passes": passes_of(record, records, arguments)}
        cases.append(judged(record, arguments.close))
        print(line_of(cases[-1]), flush=True)
    print("\n" + summary(cases))
    return 1 if any(case["result"] == "wrong" for case in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
