"""Part b, is it right: planted chains, the copy, inline seconds, clocks by arm."""

from __future__ import annotations

import json
import statistics
from typing import Any, Optional

from .driver import Driver, DriverError
from .pipelines import emulated_step
from .results import FAIL, OK
from .session import ROOT, Session

CHAINS = 10
_RIGHT_AT_LEAST = 8
_CEILING_WITHIN = 0.01
_STEP_MS = 20.0
_COPY_AT_LEAST = 0.9
_INLINE_WITHIN = 0.01
_CLOCKS_WITHIN = 0.02
_IMAGE_BYTES = 3 * 224 * 224 * 4


def run(session: Session) -> None:
    check_planted(session)
    check_copy(session)
    check_inline(session)
    check_clocks(session)


def check_planted(session: Session) -> None:
    """By `selftest`, whose chains are slow where they were made slow."""
    chains = 2 if session.dry_run else CHAINS
    tool = str(session.options.build / "bin/cachebisect")
    command = [tool, "selftest", "--cases", str(chains), "--no-progress", "--json", "-"]
    command += ["--budget", f"{session.seconds(20, 10):g}"]
    if not session.dry_run:
        command += ["--device", "cuda"]
    done = session.run(command, 40 * chains)
    if "--device" in done.err and done.code not in (0, 5):
        session.skip("planted chains", f"this build's selftest has no CUDA steps: {done.reason()}")
        return
    if done.code not in (0, 5):
        session.results.add(FAIL, "planted chains", done.reason())
        return
    outcomes = [chain["outcome"] for chain in json.loads(done.out)["chains"]]
    right, wrong = outcomes.count("right"), outcomes.count("wrong")
    # The machine of a dry run is a shared one, whose noise makes chains inconclusive.
    least = 0 if session.dry_run else _RIGHT_AT_LEAST
    session.results.judge(
        wrong == 0 and right >= least, "planted chains",
        f"{right} of {len(outcomes)} right, {wrong} wrong", f"none wrong, at least {least} right",
    )  # fmt: skip


def check_copy(session: Session) -> None:
    pipeline = emulated_step("copy", [], step_ms=_STEP_MS, batch=64, workers=2, size=_IMAGE_BYTES)
    done, report = session.bisect(
        pipeline, session.seconds(20, 5), "--device", session.device, "--sustain", "0"
    )
    if "an emulated step needs the emulated device" in done.err:
        session.skip("copy", "this build has no emulated steps on CUDA")
        return
    if done.code != 0 or report is None:
        session.results.add(FAIL, "copy", done.reason())
        return
    _check_ceiling(session, report["ceiling"]["samples_per_second"], 64e3 / _STEP_MS)
    raw = _raw_copy(session, pipeline)
    if raw is None:
        return
    peak = report["device"]["copy_gb_per_s"]
    live = next(s["copy_gb_per_s"] for s in report["stages"] if s["category"] == "copy")
    for name, rate in (("copy of the run's own probe", peak), ("copy, live", live)):
        figure = f"{rate or 0:.1f} of {raw:.1f} GB/s"
        session.results.judge(
            rate is not None and rate >= _COPY_AT_LEAST * raw, name, figure,
            f"at least {_COPY_AT_LEAST:.0%}", gb_per_s=rate, raw_gb_per_s=raw,
        )  # fmt: skip


def _check_ceiling(session: Session, rate: Optional[float], planned: float) -> None:
    if rate is None:
        session.results.add(FAIL, "a planted step", "the report has no ceiling")
        return
    session.results.judge(
        abs(rate / planned - 1) <= _CEILING_WITHIN, "a planted step",
        f"{rate:,.0f} samples/s of {planned:,.0f} ({rate / planned - 1:+.2%})",
        f"within {_CEILING_WITHIN:.0%}", rate=rate, planned=planned,
    )  # fmt: skip


def _raw_copy(session: Session, pipeline: Any) -> Optional[float]:
    if session.dry_run:
        return float(pipeline["emulate"]["copy_gb_per_s"])
    try:
        return Driver().pinned_copy_gb_per_s()
    except DriverError as error:
        session.results.add(FAIL, "raw copy", str(error))
        return None


def check_inline(session: Session) -> None:
    program = session.program("bin/gpu_figures")
    if program is None:
        session.skip("inline seconds", "gpu_figures is not built: build all targets")
        return
    pause = session.seconds(60, 1)
    done = session.run([program, "inline", session.device, f"{pause:g}"], pause + 30)
    if "only the emulated device can take it" in done.err:
        session.skip("inline seconds", f"this build has no delay kernel: {done.reason()}")
        return
    if done.code != 0:
        session.results.add(FAIL, "inline seconds", done.reason())
        return
    for row in map(json.loads, done.out.splitlines()):
        error = row["inline_us"] / row["work_us"] - 1
        session.results.judge(
            abs(error) <= _INLINE_WITHIN, f"inline seconds after {row['after_seconds']} s",
            f"{row['inline_us']:.1f} us of {row['work_us']:.0f} ({error:+.2%})",
            f"within {_INLINE_WITHIN:.0%}", **row,
        )  # fmt: skip


def check_clocks(session: Session) -> None:
    file = ROOT / "pipelines/fakecifar-resnet18.json"
    words = ["--device", session.device, "--workers", "4"]
    done, report = session.bisect_file(file, session.seconds(40, 3), *words)
    if done.code != 0 or report is None:
        session.skip("clocks by arm", done.reason())
        return
    live, alone = clocks_by_arm(report)
    if not live or not alone:
        session.skip("clocks by arm", "the blocks have no clocks (NVML)")
        return
    gap = statistics.median(live) / statistics.median(alone) - 1
    warned = any(warning["code"] == "device_clock_of_arms" for warning in report["warnings"])
    figure = f"{statistics.median(live):.0f} MHz live, {statistics.median(alone):.0f} step alone"
    session.results.add(
        OK if abs(gap) <= _CLOCKS_WITHIN or warned else FAIL, "clocks by arm",
        figure + (", and the report warns" if warned else ""),
        f"within {_CLOCKS_WITHIN:.0%}, or a warning", live_mhz=live, alone_mhz=alone,
    )  # fmt: skip


def clocks_by_arm(report: Any) -> tuple[list[float], list[float]]:
    """SM clocks of the blocks that count, live and with the step alone."""
    last = len(report["stages"])
    live: list[float] = []
    alone: list[float] = []
    for block in report["blocks"]:
        clock = (block.get("device") or {}).get("sm_clock_mhz")
        if clock is None or block["void"] or block["round"] < 0 or block["overrides"]:
            continue
        if block["arm"] == "live" or (block["arm"] == "replay" and block["boundary"] == 0):
            live.append(clock)
        elif block["arm"] == "replay" and block["boundary"] == last:
            alone.append(clock)
    return live, alone
