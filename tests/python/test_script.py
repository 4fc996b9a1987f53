"""Unchanged scripts: which loader is measured, and how blocks fit between what else they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import COUNTING, HERE, SCRIPT, run_script, script_text


def measure(then: str, blocks: list[Any]) -> Any:
    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        names = [stage["name"] for stage in described["chain"]["stages"]]
        assert names[:2] == ["read Items.__getitem__", "transforms[0] Member"]
        assert described["chain"]["train"] == "step, SGD"
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        engine.ask("begin_round")
        for boundary in range(len(names) + 1):
            blocks.append(engine.run(boundary=boundary, steps=12))
        engine.ask("finish", then=then, exit_code=7, text="")

    return script


@pytest.mark.parametrize(
    "workers,method",
    [
        (0, None),
        (2, "fork"),
        (1, "spawn"),
        pytest.param(1, "forkserver", marks=pytest.mark.nightly),
    ],
)
def test_script_is_measured_and_ends(workers: int, method: Any, tmp_path: Any) -> None:
    fresh = method != "fork"
    done = run_script(tmp_path, measure("exit", []), script_text(workers, method), fresh=fresh)
    assert done.returncode == 7, done.stderr
    assert "end" not in done.stdout


def test_script_goes_on(tmp_path: Any) -> None:
    done = run_script(tmp_path, measure("continue", []), script_text(workers=1))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "end"


def test_a_block_with_a_validation_begins_again(tmp_path: Any) -> None:
    # The loop takes over after 60 steps, in the second epoch; blocks have 14 steps.
    blocks: list[Any] = []
    text = script_text(epochs=4, validate_at=40)
    done = run_script(tmp_path, measure("exit", blocks), text)
    assert done.returncode == 7, done.stderr
    assert [(block["void"], block["steps"]) for block in blocks] == [(False, 12)] * len(blocks)


def test_blocks_fit_into_epochs_that_the_script_counts(tmp_path: Any) -> None:
    blocks: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for steps in (12, 40, 40, 12):
            blocks.append(engine.run(steps=steps))
        engine.ask("finish", then="exit", exit_code=7, text="")

    text = COUNTING.format(here=str(HERE), other_in_steps=False)
    done = run_script(tmp_path, script, text)
    assert done.returncode == 7, done.stderr
    # 32 batches in an epoch: 31 whole steps are seen, of which 2 warm up.
    assert [block["steps"] for block in blocks] == [12, 29, 29, 12]
    assert not any(block["void"] for block in blocks)


def test_a_loader_that_each_step_reads_is_part_of_the_step(tmp_path: Any) -> None:
    blocks: list[Any] = []

    def script(engine: TestEngine) -> None:
        notes = engine.greet()["notes"]
        assert any("part of the step" in note for note in notes), notes
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        blocks.append(engine.run(steps=12))
        engine.ask("finish", then="exit", exit_code=7, text="")

    text = COUNTING.format(here=str(HERE), other_in_steps=True)
    done = run_script(tmp_path, script, text)
    assert done.returncode == 7, done.stderr
    assert blocks[0]["steps"] == 12 and not blocks[0]["void"]


TWO_LOADERS = (
    SCRIPT.partition("    for epoch")[0]
    + """
    train.dataset.read_seconds = 0.005
    other = DataLoader(Items(length=200), batch_size=2, num_workers=1)
    for epoch in range(4):
        for (x, _), (y, _) in zip(train, other):
            optimizer.zero_grad()
            (model(x).sum() + model(y).sum()).backward()
            optimizer.step()
    print("end", flush=True)
"""
)


def test_two_loaders_between_two_steps(tmp_path: Any) -> None:
    """The one waited for is measured, the other one belongs to the step."""
    text = TWO_LOADERS.format(here=str(HERE), method=None, workers=1)
    done = run_script(tmp_path, measure("continue", []), text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


@pytest.mark.parametrize("then,workers", [("exit", 1), ("continue", 2)])
def test_a_script_that_ends_gives_its_own_workers_up(
    then: str, workers: int, monkeypatch: Any, tmp_path: Any
) -> None:
    monkeypatch.setenv("CACHEBISECT_THEN", then)
    counts: list[int] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        engine.run()
        counts.append(len(children_of(int(engine.pid))))
        raise EOFError("the engine dies")

    with pytest.raises(EOFError):
        run_script(tmp_path, script, script_text(workers=1))
    assert counts == [workers]
    assert "end" in (tmp_path / "script.out").read_text()


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
