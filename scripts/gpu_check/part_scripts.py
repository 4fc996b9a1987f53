"""Part e, are scripts of users right: `run` on a loop in Python with a planted cost."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .results import FAIL
from .session import ROOT, Bisected, Session

_LOOP = ROOT / "bench/python/gpu_loop.py"
_BUDGET_SECONDS = 30.0
_RUN_SECONDS = 120.0
_EPOCHS = 2
_SMALL = ("--model", "lenet", "--image", "32", "--batch", "32")
_COMPARE = """
import sys, torch
def equal(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b
sys.exit(not equal(*(torch.load(name, map_location="cpu") for name in sys.argv[1:])))
"""


class Case(NamedTuple):
    name: str
    words: tuple[str, ...]
    verdict: str
    stage: str = ""
    """How the stage that is named begins."""
    says: str = ""
    """Somewhere in the report on standard output."""


CASES = (
    Case("a slow transform", ("--decode-ms", "2"), "drop", "decode"),
    Case("a slow collate_fn", ("--workers", "1", "--collate-ms", "40"), "drop", "collate_fn"),
    Case(
        "a step that the device limits",
        ("--model", "resnet50", "--batch", "128", "--workers", "8"), "flat",
    ),
    Case("a step that the host limits", ("--host-ms", "30"), "flat", says="preprocess"),
    Case(
        "copies of pageable float32",
        ("--model", "small", "--batch", "128", "--workers", "8", "--float", "--pageable"),
        "drop", "transfer",
    ),
    Case(
        "a step that changes its batch", ("--float", "--in-place", "--decode-ms", "2"),
        "drop", "decode",
    ),
    Case(
        "CUDA graphs of torch.compile", ("--compile", "reduce-overhead", "--decode-ms", "2"),
        "drop", "decode",
    ),
)  # fmt: skip


def run(session: Session) -> None:
    python = session.python_with_torch()
    if python is None:
        session.skip("scripts", "no Python with torch: give one with --python")
        return
    for case in CASES[:1] if session.dry_run else CASES:
        check_case(session, case, python)
    check_exact(session, python)


def check_case(session: Session, case: Case, python: str) -> None:
    small = _SMALL if session.dry_run else ()
    done, report = _bisect(session, python, (*case.words, *small), ())
    if done.code != 0 or report is None:
        session.results.add(FAIL, case.name, done.reason())
        return
    verdict = report["verdict"]
    stage = verdict["stage"] or ""
    right = verdict["kind"] == case.verdict and stage.startswith(case.stage)
    session.results.judge(
        (right and case.says in done.out) or session.dry_run, case.name, verdict["text"],
        f"{case.verdict} {case.stage} {case.says}".strip(),
        seconds=report["timing"]["wall_seconds"], verdict=verdict,
        warnings=[warning["code"] for warning in report["warnings"]],
    )  # fmt: skip


def check_exact(session: Session, python: str) -> None:
    """Weights, optimizer, scaler and random numbers after `--then continue`, bit for bit."""
    name = "training goes on as if nothing had been"
    words = (*_SMALL, "--scaler", "--exact", "--epochs", str(_EPOCHS))
    with tempfile.TemporaryDirectory() as folder:
        plain, bisected = (str(Path(folder) / file) for file in ("plain.pt", "bisected.pt"))
        command = [*_command(session, python), *words, "--save", plain]
        done = session.run(command, _RUN_SECONDS, environment=_environment())
        if done.code == 0:
            how = ("--then", "continue")
            done = _bisect(session, python, (*words, "--save", bisected), how).done
        if done.code == 0:
            done = session.run([python, "-c", _COMPARE, plain, bisected], _RUN_SECONDS)
        figure = f"{_EPOCHS} epochs" if done.code == 0 else done.reason()
        session.results.judge(done.code == 0, name, figure, "the same bits")


def _command(session: Session, python: str) -> list[str]:
    return [python, str(_LOOP), "--device", session.model_device]


def _bisect(session: Session, python: str, words: Sequence[str], how: Sequence[str]) -> Bisected:
    command = ["run", "--no-explain", *how, "--", *_command(session, python), *words]
    environment = _environment()
    return session.bisect_command(command, _BUDGET_SECONDS, _RUN_SECONDS, environment=environment)


def _environment() -> Mapping[str, str]:
    folders = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # deterministic algorithms need it
    }
