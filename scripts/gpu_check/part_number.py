"""Part c, is it the user's number: the step alone against the same loop in Python, in turns."""

from __future__ import annotations

import json
import statistics
from typing import Any, NamedTuple, Optional

from .pipelines import training
from .results import FAIL, OK, SKIP
from .session import ROOT, Session

WITHIN = 0.02
_HOST_LIMITS = 0.5
"""Share of step ends in Python at which the device had nothing left to do: such a loop is as fast
as Python launches kernels."""
TURNS = 3
_LOOP = ROOT / "bench/python/step_loop.py"


class Case(NamedTuple):
    model: str
    batch: int
    image: Optional[int] = None
    channels_last: bool = False

    @property
    def name(self) -> str:
        return f"{self.model} {'channels_last' if self.channels_last else 'NCHW'}"


def cases(dry_run: bool) -> list[Case]:
    """The mlp has no images whose order could differ."""
    if dry_run:
        return [Case("mlp", 64), Case("lenet", 16), Case("lenet", 16, None, True)]
    both = [
        Case(model, batch, image, channels_last)
        for model, batch, image in (
            ("lenet", 128, None), ("resnet18", 128, 224), ("resnet50", 64, 224),
        )
        for channels_last in (False, True)
    ]  # fmt: skip
    return [Case("mlp", 64), *both]


def run(session: Session) -> None:
    python = session.python_with_torch()
    if python is None:
        session.skip("the user's number", "no Python with torch: give one with --python")
        return
    for case in cases(session.dry_run):
        _compare(session, case, python)


def _compare(session: Session, case: Case, python: str) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    idle: list[float] = []
    for _ in range(1 if session.dry_run else TURNS):
        loop, problem = _python_loop(session, case, python)
        rate, problem = _our_rate(session, case) if loop else (None, problem)
        if loop is None or rate is None:
            missing = "no LibTorch" in problem or "LibTorch module" in problem
            session.results.add(SKIP if missing else FAIL, case.name, problem)
            return
        theirs.append(loop["samples_per_second"])
        idle.append(loop["device_idle_share"])
        ours.append(rate)
    gap = statistics.median(ours) / statistics.median(theirs) - 1
    figure = (
        f"{statistics.median(ours):,.0f} samples/s, Python {statistics.median(theirs):,.0f}"
        f" ({gap:+.1%})"
    )
    if session.dry_run:
        session.results.add(OK, case.name, figure, "not judged in a dry run")
        return
    host_limits = statistics.median(idle) > _HOST_LIMITS
    limit = f"at most {WITHIN:.0%} slower: Python limits" if host_limits else f"within {WITHIN:.0%}"
    right = gap >= -WITHIN and (host_limits or gap <= WITHIN)
    session.results.judge(right, case.name, figure, limit, ours=ours, python=theirs, idle=idle)


def _python_loop(session: Session, case: Case, python: str) -> tuple[Optional[Any], str]:
    """What step_loop.py prints, or why there is nothing."""
    command = [python, str(_LOOP), "--model", case.model, "--batch", str(case.batch)]
    command += ["--device", session.model_device, "--seconds", f"{session.seconds(3, 1):g}"]
    if case.image:
        command += ["--image", str(case.image)]
    if case.channels_last:
        command += ["--channels-last"]
    done = session.run(command, 120)
    if done.code != 0:
        return None, f"the loop in Python: {done.reason()}"
    return json.loads(done.out.splitlines()[-1]), ""


def _our_rate(session: Session, case: Case) -> tuple[Optional[float], str]:
    """Samples per second, or why there is no figure."""
    pipeline = training(
        case.model, batch=case.batch, image=case.image, channels_last=case.channels_last
    )
    last = len(pipeline["stages"])
    done, report = session.bisect(
        pipeline, session.seconds(5, 12), "--device", session.model_device, "--no-explain",
        "--sustain", "0", "--boundaries", f"0,{last}",
    )  # fmt: skip
    if done.code != 0 or report is None:
        return None, done.reason()
    rate = report["ceiling"]["samples_per_second"]
    return (float(rate), "") if rate else (None, "the report has no ceiling")
