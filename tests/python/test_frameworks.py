"""Unchanged scripts of frameworks under `cachebisect run`, with the real command."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import pytest

pytest.importorskip("torch")

from commands import torchrun

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILT = ROOT / "build" / "release" / "bin" / "cachebisect"


def find_command() -> Optional[str]:
    """The command of this source tree, or an installed one."""
    named = os.environ.get("CACHEBISECT_BINARY")
    return named or (str(BUILT) if BUILT.exists() else shutil.which("cachebisect"))


COMMAND = find_command()
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(COMMAND is None, reason="the command cachebisect is not built"),
]


def run(tmp_path: Path, command: list[str], options: tuple[str, ...]) -> Any:
    """Measures `command`. Returns the report. No process is left."""
    assert COMMAND is not None
    report = tmp_path / "report.json"
    done = subprocess.run(
        [COMMAND, "run", "--hello-timeout", "120", "--json", str(report), *options,
         "--", *command],
        capture_output=True, text=True, timeout=600,
        env={**os.environ, "CACHEBISECT_HOOK": str(ROOT / "python" / "cachebisect" / "_hook")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert processes_of(tmp_path) == []
    return json.loads(report.read_text())


def decided(report: Any) -> Any:
    """The verdict, which other load may leave open: bench/python/ranks.py counts how often."""
    verdict = report["verdict"]
    if verdict["kind"] == "inconclusive":
        pytest.skip(f"not decided within its budget on this machine: {verdict['text']}")
    return verdict


def processes_of(tmp_path: Path) -> list[str]:
    """Command lines of processes whose environment names `tmp_path`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"CACHEBISECT_TEST={tmp_path}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.fixture(autouse=True)
def marked(monkeypatch: Any, tmp_path: Path) -> None:
    """What the tests start can be told from all other processes; this one has started before."""
    monkeypatch.setenv("CACHEBISECT_TEST", str(tmp_path))


@pytest.mark.parametrize(
    "framework,script",
    [
        ("lightning", "lightning_trainer.py"),
        ("transformers", "hf_trainer.py"),
        ("accelerate", "accelerate_loop.py"),
    ],
)
def test_the_slow_member_is_named(framework: str, script: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    command = [sys.executable, str(HERE / "scripts" / script)]
    report = run(tmp_path, command, ("--budget", "150", "--no-explain"))
    verdict = decided(report)
    assert (verdict["kind"], verdict["stage"]) == ("drop", "transforms[1] SlowMember"), verdict


def run_ranks(tmp_path: Path, *arguments: str) -> Any:
    example = str(ROOT / "examples" / "python" / "torchrun_ddp.py")
    command = torchrun(2, example, *arguments)
    return run(tmp_path, command, ("--budget", "400", "--sustain", "0"))


def test_a_stall_in_one_rank_is_named_with_its_rank(tmp_path: Path) -> None:
    report = run_ranks(tmp_path, "--stall", "1", "--seconds", "0.06")
    verdict = decided(report)
    assert (verdict["kind"], verdict["stage"]) == ("drop", "transforms[1] Stall"), verdict
    assert verdict["rank"] == 1, report["ranks"]
    assert "rank 1, transforms[1] Stall" in verdict["text"]
    assert report["pipeline"]["ranks"] == 2


def test_no_rank_explains_a_slow_backward_pass(tmp_path: Path) -> None:
    report = run_ranks(tmp_path, "--backward", "1", "--seconds", "0.1")
    verdict = decided(report)
    assert (verdict["kind"], verdict["rank"]) == ("flat", None), verdict
    assert "No rank's input explains" in verdict["text"]
