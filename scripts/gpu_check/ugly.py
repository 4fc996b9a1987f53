"""Inputs that users give by mistake or on purpose, and how the tool must end."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

from .pipelines import Pipeline, emulated_step, training
from .results import FAIL
from .session import Bisected, Done, Session

_STEP: Mapping[str, Any] = {"step_ms": 2, "batch": 16, "workers": 1}
_BUDGET = 2.0


class Ugly(NamedTuple):
    name: str
    pipeline: Pipeline
    code: int = 0
    says: str = ""
    """On standard error."""
    words: tuple[str, ...] = ()
    environment: Optional[Mapping[str, str]] = None
    interrupt_after: Optional[float] = None
    report: bool = True
    """There is a report, also if the run ends early."""
    needs_gpu: bool = False
    needs_torch: bool = False


def ugly_inputs() -> list[Ugly]:
    small = emulated_step("small", [], **_STEP)
    slow = emulated_step("slow", [{"use": "synthetic.wait", "us": 3000}], **_STEP)
    inline = emulated_step("inline", [], step_ms=2, batch=1, workers=0)
    blocking = emulated_step("blocking", [], **_STEP)
    blocking["stages"][-1] = {
        "use": "copy.device", "pinned": False, "non_blocking": False, "prefetch": 0,
    }  # fmt: skip
    few = training("lenet", batch=32, classes=2)
    huge = training("lenet", batch=32)
    huge["train"]["optimizer"]["lr"] = 1000
    return [
        Ugly("batches of one, without workers", inline),
        Ugly("a blocking copy of pageable memory", blocking),
        Ugly("stages that starve the step", slow),
        Ugly("Ctrl-C", small, 130, "", ("--min-drop", "0.0001"), interrupt_after=8),
        Ugly("labels beyond the classes", few, 3, "classes", report=False, needs_torch=True),
        Ugly("a loss that overflows", huge, needs_torch=True),
        Ugly("a device that is not there", small, 4, "cuda:999", ("--device", "cuda:999"),
             report=False, needs_gpu=True),
        Ugly("hidden devices", small, 4, "CUDA", environment={"CUDA_VISIBLE_DEVICES": ""},
             report=False, needs_gpu=True),
        Ugly("launches that wait", small, environment={"CUDA_LAUNCH_BLOCKING": "1"},
             needs_gpu=True),
        Ugly("a cache larger than the device", small, words=("--cache-device", "90%"),
             needs_gpu=True),
    ]  # fmt: skip


def check_ugly_inputs(session: Session) -> None:
    for case in ugly_inputs():
        name = f"ugly: {case.name}"
        if case.needs_gpu and session.dry_run:
            session.skip(name, "it needs a GPU")
            continue
        device = session.model_device if case.needs_torch else session.device
        done, report = _run(session, case, device)
        if case.needs_torch and "LibTorch" in done.err and done.code == 2:
            session.skip(name, f"this build has no LibTorch: {done.reason()}")
            continue
        problem = _problem(case, done, report)
        ended = f"ended with {done.code}" + (f", says '{case.says}'" if case.says else "")
        if problem:
            session.results.add(FAIL, name, problem)
        else:
            session.results.judge(True, name, ended)


def _run(session: Session, case: Ugly, device: str) -> Bisected:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ugly.json"
        file.write_text(json.dumps(case.pipeline))
        words = list(case.words)
        if "--device" not in words:
            words += ["--device", device]
        budget = 60.0 if case.interrupt_after else _BUDGET
        return session.bisect_file(
            file, budget, "--no-explain", "--sustain", "0", *words,
            environment=case.environment, interrupt_after=case.interrupt_after,
        )  # fmt: skip


def _problem(case: Ugly, done: Done, report: Optional[Any]) -> str:
    """What is not as it must be; empty if nothing is."""
    if done.code != case.code:
        return f"{done.reason()}; expected exit {case.code}"
    if case.says not in done.err:
        return f"standard error does not say '{case.says}'"
    if "terminate called" in done.err:
        return "ended by std::terminate"
    if case.report and report is None:
        return "there is no report"
    return ""
