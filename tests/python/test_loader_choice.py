"""`--loader N`: the N-th loader that a script iterates is measured, whatever it is for."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import HERE, run_script

SCRIPT = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from loaders import Items, Stream

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
train = DataLoader(Items(length=200), batch_size=4)
validation = DataLoader(Stream(length=80), batch_size=2)
short = DataLoader(Items(length=8), batch_size=8)
for epoch in range(4):
    for x, _ in train:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    with torch.no_grad():
        for x, _ in validation:
            model(x)
        for x, _ in short:
            model(x)
print("end", flush=True)
"""


@pytest.mark.parametrize(
    "number,read", [(1, "read Items.__getitem__"), (2, "read Stream.__iter__")]
)
def test_the_loader_of_that_number_is_measured(number: int, read: str, tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["chain"]["stages"][0]["name"] == read
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        engine.run()
        engine.ask("finish", then="exit", exit_code=7, text="")

    assert run_script(tmp_path, script, SCRIPT, loader=number).returncode == 7


@pytest.mark.parametrize(
    "number,reason", [(3, "it gave less than 30 batches"), (9, "the script iterated 3")]
)
def test_a_loader_that_is_not_there(number: int, reason: str, tmp_path: Any) -> None:
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())

    done = run_script(tmp_path, script, SCRIPT, loader=number)
    assert done.returncode == 0 and done.stdout == "end\n"
    assert answers[0]["type"] == "error" and answers[0]["kind"] == "usage"
    text = answers[0]["text"]
    assert text.startswith(f"--loader {number}: {reason}")
    assert "1: DataLoader(Items, batch_size=4, num_workers=0), 200 batches" in text
    assert "2: DataLoader(Stream, batch_size=2, num_workers=0), 160 batches" in text
    assert "3: DataLoader(Items, batch_size=8, num_workers=0), 4 batches" in text


@pytest.mark.parametrize("text", ["print('end')", "raise SystemExit(4)"])
def test_a_script_without_loaders_is_told_as_usual(text: str, tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        assert engine.ask("hello", protocol=1)["type"] == "hello"
        with pytest.raises((EOFError, OSError)):
            engine.ask("describe")

    assert run_script(tmp_path, script, text, loader=1).returncode in (0, 4)
