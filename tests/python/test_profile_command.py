"""`cachebisect profile -- CMD`: unchanged scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HOOK, needs_command
from test_time_command import SCRIPT

pytestmark = needs_command


def profile_script(
    folder: Path, *options: str, workers: int = 0, ending: str = "print('end')"
) -> subprocess.CompletedProcess[str]:
    path = folder / "train.py"
    path.write_text(SCRIPT.replace("WORKERS", str(workers)).replace("ENDING", ending))
    return subprocess.run(
        [str(COMMAND), "profile", "--hook", str(HOOK), *options, "--", sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_each_action_has_its_calls_and_share(tmp_path: Path) -> None:
    done = profile_script(tmp_path, "--active", "12")
    assert done.returncode == 0, done.stderr
    assert "profiled: 12 steps in 1 cycle, 48 samples" in done.stdout
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if "%" in line}
    for action in ("load", "forward", "backward", "optimizer"):
        assert rows[action][1] == "12"
    assert "no copy" not in done.stdout


@pytest.mark.parametrize("workers", [0, 1])
def test_the_trace_has_the_steps_and_the_waits(tmp_path: Path, workers: int) -> None:
    file = tmp_path / "train.pt.trace.json"
    options = ("--profiler", "pytorch", "--memory", "--active", "4", "--trace", str(file))
    done = profile_script(tmp_path, *options, workers=workers)
    assert done.returncode == 0, done.stderr
    assert "LibTorch held at most" in done.stdout
    trace = json.loads(file.read_text(encoding="utf-8"))
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert all(isinstance(event["args"], dict) for event in slices)
    names = [event["name"] for event in slices]
    assert len({name for name in names if name.startswith("ProfilerStep#")}) == 4
    assert any(name.startswith("enumerate(DataLoader)#") for name in names)
    assert "aten::addmm" in names


def test_advanced_ranks_operators(tmp_path: Path) -> None:
    done = profile_script(tmp_path, "--profiler", "advanced", "--sort", "calls", "--top", "5")
    assert done.returncode == 0, done.stderr
    assert "operators of the step" in done.stdout
    assert "aten::" in done.stdout


def test_a_script_that_ends_early_says_that_there_is_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    done = profile_script(tmp_path, "--trace", str(file), "--wait", "100000")
    assert done.returncode == 2
    assert "before a batch was timed" in done.stderr
    assert not file.exists()


def test_options_of_a_pipeline_do_not_apply_to_a_script(tmp_path: Path) -> None:
    assert profile_script(tmp_path, "--repeat", "2").returncode == 2
    assert profile_script(tmp_path, "--workers", "2").returncode == 2
