"""Unchanged scripts: a process with the hook on its path, and a test engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from cachebisect import _startup
from engine import TestEngine

HERE = Path(__file__).resolve().parent
HOOK = HERE.parents[1] / "python" / "cachebisect" / "_hook"

SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Items, Member

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    method = {method!r}
    train = DataLoader(Items(Compose([Member(100)]), 128), batch_size=4,
                       num_workers={workers}, multiprocessing_context=method)
    validation = DataLoader(Items(length=16), batch_size=4)
    for epoch in range({epochs}):
        for step, (x, _) in enumerate(train):
            assert x.shape == (4, 4) and x.min() >= 100
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            if step == {validate_at}:
                with torch.no_grad():
                    assert sum(1 for _ in validation) == 4
        print("epoch", epoch, flush=True)
    print("end", flush=True)
"""


def run_script(
    tmp_path: Any, script: Any, text: str, loader: Any = None
) -> subprocess.CompletedProcess[str]:
    """Runs `text` as a script whose first connection is answered by `script(engine)`."""
    engine = TestEngine(str(tmp_path / "socket"), script)
    path = tmp_path / "train.py"
    path.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "socket")
    if loader is not None:
        environment["CACHEBISECT_LOADER"] = str(loader)
    done = subprocess.run(
        [sys.executable, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    engine.join()
    return done


def script_text(
    workers: int = 0, method: Any = None, epochs: int = 4, validate_at: int = -1
) -> str:
    return SCRIPT.format(
        here=str(HERE), workers=workers, method=method, epochs=epochs, validate_at=validate_at
    )


ARM = {"kind": "replay", "boundary": 0, "stage": 0, "overrides": {}, "observed": True}


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
    "workers,method", [(0, None), (2, "fork"), (1, "spawn"), (1, "forkserver")]
)
def test_script_is_measured_and_ends(workers: int, method: Any, tmp_path: Any) -> None:
    done = run_script(tmp_path, measure("exit", []), script_text(workers, method))
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


COUNTING = """
import sys
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Items, Member

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    train = DataLoader(Items(Compose([Member(100)]), 128), batch_size=4)
    other = DataLoader(Items(length=16), batch_size=4)
    for epoch in range(20):
        batches = iter(train)
        for _ in range(len(train)):
            x, _ = next(batches)
            if {other_in_steps}:
                next(iter(other))
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    print("end", flush=True)
"""


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
    """One is measured, the other one belongs to the step."""
    text = TWO_LOADERS.format(here=str(HERE), method=None, workers=1)
    done = run_script(tmp_path, measure("continue", []), text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_a_script_that_raises_tells_the_engine(tmp_path: Any) -> None:
    # An epoch has 32 steps: only a measured one has more.
    text = script_text().replace("assert x.shape", "assert step < 40; assert x.shape")
    errors: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.send("run", arm=ARM, steps=1000, warmup_steps=2)
        errors.append(engine.answer())

    done = run_script(tmp_path, script, text)
    assert done.returncode == 1 and "AssertionError" in done.stderr
    assert errors[0]["type"] == "error" and errors[0]["stage"] == "step"
    assert errors[0]["text"].startswith("AssertionError") and "train.py:" in errors[0]["text"]
    assert errors[0]["traceback"][-1].startswith("AssertionError")


def test_engine_that_dies_leaves_training_alone(tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.run()

    done = run_script(tmp_path, script, script_text())
    assert done.returncode == 0 and "end" in done.stdout
    assert "training goes on" in done.stderr


@pytest.mark.parametrize(
    "ending,expected,code", [("pass", "more steps", 0), ("1 / 0", "ZeroDivisionError: ", 1)]
)
def test_script_that_ends_first_says_why(
    ending: str, expected: str, code: int, tmp_path: Any
) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        answer: Any = {"type": "run"}
        while answer["type"] == "run":
            arm = {"kind": "replay"}
            answer = engine.ask("run", arm=arm, steps=20, warmup_steps=2, seed=1)
        assert answer["kind"] == "data" and expected in answer["text"], answer
        engine.ask("finish", then="exit", exit_code=3, text="")

    text = COUNTING.format(here=str(HERE), other_in_steps=False)
    text = text.replace("print(", ending + "\n    print(")
    done = run_script(tmp_path, script, text)
    assert done.returncode == code, done.stderr


@pytest.mark.parametrize("text", ["print('end')", "import torch.utils.data\nprint('end')"])
def test_script_without_a_loader(text: str, tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        assert engine.ask("hello", protocol=1)["program"] in ("train.py", "")
        with pytest.raises((EOFError, OSError)):
            engine.ask("describe")

    done = run_script(tmp_path, script, text)
    assert done.returncode == 0 and done.stdout == "end\n"


def test_without_a_socket_the_hook_does_nothing(tmp_path: Any) -> None:
    text = "import sys; print([m for m in sys.modules if m.startswith('cachebisect')])"
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment.pop("CACHEBISECT_SOCKET", None)
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n" and done.stderr == ""


def test_the_hidden_sitecustomize_still_runs(tmp_path: Any) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hidden')")
    environment = {**os.environ, "PYTHONPATH": f"{HOOK}{os.pathsep}{tmp_path}"}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "none")
    done = subprocess.run(
        [sys.executable, "-c", "print('end')"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "hidden\nend\n"


@pytest.mark.parametrize(
    "line,child",
    [
        (["python", "train.py"], False),
        (["python", "-c", "from multiprocessing.spawn import spawn_main; ..."], True),
        (["python", "-c", "from multiprocessing.forkserver import main; ..."], True),
        (["python", "-m", "torch.distributed.run", "train.py"], False),
    ],
)
def test_children_of_multiprocessing_are_told_apart(line: list[str], child: bool) -> None:
    assert _startup.is_multiprocessing_child(line) is child
