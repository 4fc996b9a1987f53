"""Ranks of a job that have no loader: cachebisect.steps() in place of one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import cachebisect
from commands import COMMAND, HOOK, ROOT, needs_command, torchrun
from engine import TestEngine
from hooked import run_script

EXAMPLE = str(ROOT / "examples" / "python" / "pipeline_parallel.py")

SCRIPT = """
import torch, cachebisect

weight = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([weight], 1.0)
taken, ends = [], 0
for epoch in range(EPOCHS):
    for item in cachebisect.steps(range(LENGTH)):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
        taken.append(item)
    ends += 1
    print("epoch", epoch, len(taken), flush=True)
print("weight", float(weight.detach()))
"""


def script_of(epochs: int, length: int) -> str:
    return SCRIPT.replace("EPOCHS", str(epochs)).replace("LENGTH", str(length))


@pytest.fixture
def of_two(monkeypatch: Any) -> None:
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "2")):
        monkeypatch.setenv(name, value)


def test_steps_are_those_of_the_iterable_where_nothing_is_measured() -> None:
    assert list(cachebisect.steps(range(3))) == [0, 1, 2]
    assert list(cachebisect.steps(iter("ab"))) == ["a", "b"]


def test_the_steps_of_a_rank_without_a_loader_are_blocks(tmp_path: Any, of_two: None) -> None:
    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["chain"] == {"loader": "none"}
        assert (described["rank"], described["world"]) == (1, 2)
        for settling in (0, 3):
            block = engine.run(settling=settling, boundary=0)
            assert (block["steps"], block["warmup_steps"]) == (4, 2 + settling)
            assert (block["samples"], block["starved_seconds"], block["stages"]) == (0, 0.0, [])
            assert block["seconds"] > 0 and not block["void"]
        assert engine.ask("begin_round")["type"] == "begin_round"
        assert engine.ask("machine")["own_cpu_seconds"] > 0
        assert engine.ask("sizes", samples=4)["type"] == "error"
        engine.finish()

    done = run_script(tmp_path, script, script_of(1, 60))
    assert done.returncode == 0, done.stderr
    # As if it had not been measured: one step for each item.
    assert "weight -60.0" in done.stdout


def test_measured_steps_end_with_the_epochs_of_the_script(
    tmp_path: Any, of_two: None, monkeypatch: Any
) -> None:
    monkeypatch.setenv("CACHEBISECT_THEN", "exit")

    def script(engine: TestEngine) -> None:
        engine.greet()
        # After 30 steps, 10 before the end of an epoch: the block begins again in the next one.
        block = engine.run(steps=12, settling=0, boundary=0)
        assert block["steps"] == 12 and not block["void"]
        engine.ask("finish", then="exit", exit_code=7, text="")

    done = run_script(tmp_path, script, script_of(9, 40))
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines() == ["epoch 0 40"]


def test_a_process_alone_is_measured_by_its_loader(tmp_path: Any) -> None:
    refusals: list[str] = []

    def script(engine: TestEngine) -> None:
        answer = engine.greet()
        refusals.append(answer["text"])
        engine.finish()

    assert run_script(tmp_path, script, script_of(1, 150)).returncode == 0
    assert "no batch of a torch DataLoader was taken" in refusals[0]


def pipeline(*arguments: str) -> list[str]:
    return torchrun(2, EXAMPLE, *arguments)


def measured(tmp_path: Path, options: list[str], *arguments: str) -> Any:
    words = [str(COMMAND), "run", "--hook", str(HOOK), "--no-progress", "--sustain", "0"]
    words += ["--json", str(tmp_path / "report.json"), *options, "--", *pipeline(*arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "python")}


@needs_command
def test_a_pipeline_of_two_ranks_is_measured_by_its_first(tmp_path: Path) -> None:
    done = measured(tmp_path, ["--budget", "20"], "--stall", "0.04")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["pipeline"]["ranks"] == 2
    assert report["pipeline"]["ranks_without_loader"] == 1
    assert "2 ranks, 1 of them without a loader, each batch 8" in done.stdout
    assert [rank["rank"] for rank in report["ranks"]] in ([], [0])


@needs_command
@pytest.mark.nightly
def test_the_slow_stage_of_the_first_of_two_ranks_is_named(tmp_path: Path) -> None:
    done = measured(tmp_path, ["--budget", "60"], "--stall", "0.04")
    assert done.returncode == 0, done.stderr
    verdict = json.loads((tmp_path / "report.json").read_text())["verdict"]
    assert (verdict["kind"], verdict["stage"]) == ("drop", "transforms[0] Stall"), verdict


@needs_command
def test_training_of_all_ranks_goes_on_as_if_it_had_not_been_measured(tmp_path: Path) -> None:
    arguments = ("--batches", "45", "--epochs", "2", "--stall", "0.002")
    plain = subprocess.run(
        pipeline(*arguments), capture_output=True, text=True, timeout=600, env=ENVIRONMENT
    )
    done = measured(tmp_path, ["--budget", "5", "--then", "continue"], *arguments)
    assert done.returncode == 0, done.stderr
    results = [line for line in plain.stdout.splitlines() if line.startswith("rank")]
    assert len(results) == 2
    assert all(line in done.stdout.splitlines() for line in results), done.stdout


@needs_command
def test_ranks_none_of_which_has_a_loader_are_refused(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(script_of(3, 50))
    words = [str(COMMAND), "run", "--hook", str(HOOK), "--no-progress", "--"]
    words += torchrun(2, str(script))
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "no rank has a loader" in done.stderr
