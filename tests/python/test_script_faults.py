"""Unchanged scripts that end, fail or do something else, and engines that die."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import COUNTING, HERE, SCRIPT, run_script, script_text

ARM = {"kind": "replay", "boundary": 0, "stage": 0, "overrides": {}, "observed": True}


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


READ_IN_ADVANCE = (
    SCRIPT.partition("    for epoch")[0].replace("import sys", "import queue, sys, threading", 1)
    + """
    batches = queue.Queue(2)

    def read():
        for _ in range(4):
            for batch in train:
                batches.put(batch)
        batches.put(None)

    threading.Thread(target=read).start()
    while (batch := batches.get()) is not None:
        optimizer.zero_grad()
        model(batch[0]).sum().backward()
        optimizer.step()
    print("end", flush=True)
"""
)


def test_a_loader_that_a_thread_reads_in_advance_is_left_alone(tmp_path: Any) -> None:
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())

    text = READ_IN_ADVANCE.format(here=str(HERE), method=None, workers=1)
    done = run_script(tmp_path, script, text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr
    assert answers[0]["type"] == "error" and answers[0]["kind"] == "usage"
    assert "a thread (train.py:20) reads the batches of DataLoader(Items" in answers[0]["text"]
