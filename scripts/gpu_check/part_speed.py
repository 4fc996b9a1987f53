"""Part d, how fast: kernels, events and launches."""

from __future__ import annotations

import json
from typing import Any

from .results import FAIL, OK
from .session import Session

_KERNEL_AT_LEAST = 0.5
"""Share of what moving float32 unchanged reaches in the same run."""
_RECORD_AT_MOST_US = 5.0
_LAUNCH_AT_MOST_US = 10.0


def run(session: Session) -> None:
    program = session.program("bin/gpu_figures")
    if program is None:
        session.skip("kernels", "gpu_figures is not built: build all targets")
        return
    done = session.run([program, "speed", session.model_device], 120)
    if done.code != 0:
        session.results.add(FAIL, "kernels", done.reason())
        return
    rows = [json.loads(line) for line in done.out.splitlines()]
    kernels = [row for row in rows if "kernel" in row]
    copy = kernels[0]["gb_per_s"]
    for row in kernels:
        figure = f"{row['microseconds']:.0f} us, {row['gb_per_s']:,.0f} GB/s"
        _limit(
            session, f"kernel {row['kernel']}", figure, row["gb_per_s"] >= _KERNEL_AT_LEAST * copy,
            f"at least {_KERNEL_AT_LEAST * copy:,.0f} GB/s", row,
        )  # fmt: skip
    costs = rows[-1]
    for name, key, most in (
        ("recording an event", "record_us", _RECORD_AT_MOST_US),
        ("queueing a kernel", "launch_us", _LAUNCH_AT_MOST_US),
        ("a small kernel, end to end", "kernel_us", _LAUNCH_AT_MOST_US),
    ):
        figure = f"{costs[key]:.2f} us"
        _limit(session, name, figure, costs[key] <= most, f"at most {most:g} us", costs)


def _limit(
    session: Session, name: str, figure: str, right: bool, limit: str, values: dict[str, Any]
) -> None:
    if session.dry_run:
        session.results.add(OK, name, figure, f"{limit}; not judged in a dry run", **values)
    else:
        session.results.judge(right, name, figure, limit, **values)
