"""`cachebisect profile -- CMD`: unchanged scripts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Optional

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HOOK, needs_command
from test_time_command import SCRIPT

pytestmark = needs_command


def profile_script(
    folder: Path, *options: str, workers: object = 0, ending: str = "print('end')"
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


def milliseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


@pytest.mark.parametrize(
    "method", [None, "fork", "spawn", pytest.param("forkserver", marks=pytest.mark.nightly)]
)
def test_what_the_loader_does_is_divided(tmp_path: Path, method: Optional[str]) -> None:
    """The dataset waits 2 ms for each of 4 samples. Validation batches are no training batches."""
    workers: object = f"2, multiprocessing_context={method!r}" if method else 0
    if method == "spawn":  # To start one takes seconds.
        workers = f"{workers}, persistent_workers=True"
    done = profile_script(tmp_path, "--active", "12", workers=workers)
    assert done.returncode == 0, done.stderr
    assert ("2 workers" if method else "within load") in done.stdout
    found = re.search(r"dataset +(\d+) +([\d.]+ [mu]?s)", done.stdout)
    assert found is not None, done.stdout
    if method is None:
        assert int(found[1]) == 12
    else:
        assert int(found[1]) > 0 and "send, wait for a request, other" in done.stdout
    # A batch that began before the first timed one counts from there on.
    assert milliseconds(found[2]) >= (8 if method is None else 8 * (1 - 2 / int(found[1])))
    assert re.search(r"collate_fn +\d+ ", done.stdout)


MINUTE = 60e6  # us


def test_each_worker_has_a_track(tmp_path: Path) -> None:
    file = tmp_path / "train.pt.trace.json"
    done = profile_script(tmp_path, "--active", "8", "--trace", str(file), workers=2)
    assert done.returncode == 0, done.stderr
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    names = {
        event["tid"]: event["args"]["name"]
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"].startswith("cachebisect:")
    }
    assert sorted(names.values()) == ["cachebisect: worker 0", "cachebisect: worker 1"]
    steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
    first = min(event["ts"] for event in steps)
    last = max(event["ts"] + event["dur"] for event in steps)
    for track in names:
        slices = [event for event in events if event["tid"] == track and event["ph"] == "X"]
        assert {event["name"] for event in slices} == {"dataset", "collate_fn"}
        # On the clock of LibTorch's trace, which differs from others by hours.
        assert all(event["ts"] + event["dur"] >= first - MINUTE for event in slices)
        assert all(event["ts"] <= last + MINUTE for event in slices)
        whole = [event["dur"] for event in slices if event["name"] == "dataset"][1:-1]
        assert all(duration >= 8e3 for duration in whole)


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
