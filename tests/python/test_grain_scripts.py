"""Scripts that train from a dataset of Grain."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("grain")

from commands import needs_command
from commands import run_script as run_command
from grain_pipeline import STAGES
from hooked import run_in_fork, run_script
from test_continue import without_measured_steps
from test_iterator import every_boundary, name

SCRIPT = f"""
import json, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import torch
from grain_pipeline import Calls

if __name__ == "__main__":
    torch.manual_seed(1)
    data = Calls(180).dataset(threads=2, processes=PROCESSES)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    seen = []
    for epoch in range(EPOCHS):
        for x in data:
            x = torch.from_numpy(x)
            seen.append(x[:, 0].tolist())
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            LATE
    print(json.dumps([model.weight.tolist(), torch.rand(1).item(), seen]))
"""


def script_text(processes: int, epochs: int, late: str = "pass") -> str:
    words = {"PROCESSES": processes, "EPOCHS": epochs, "LATE": late}
    text = SCRIPT
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text


@pytest.mark.parametrize("processes", [0, 1])
def test_training_goes_on_as_if_nothing_had_been(
    processes: int, monkeypatch: Any, tmp_path: Any
) -> None:
    found: list[Any] = []
    name(monkeypatch, "grain:IterDataset")
    text = script_text(processes, 4)
    done = run_script(tmp_path, lambda e: found.extend(every_boundary(e)), text, fresh=True)
    assert done.returncode == 0, done.stderr
    assert "cachebisect: " not in done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(), untouched.pop()
    assert without_measured_steps(*orders) == orders[1]
    assert measured == untouched
    assert found[0] == [*STAGES, "mp_prefetch (1 processes, look-ahead 2)"][: 6 + processes]
    assert not any("cannot be opened twice" in note for note in found[1])


@pytest.mark.parametrize("processes", [0, 1])
def test_a_script_that_fails_in_a_block_ends(
    processes: int, monkeypatch: Any, tmp_path: Any
) -> None:
    """Threads of Grain wait in between, which Python joins at its end."""
    name(monkeypatch, "grain:IterDataset")
    failing = 'assert len(seen) < 500, "of the script"'

    def script(engine: Any) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.ask("begin_round")
        for boundary in (0, 3, 0):
            engine.run(boundary=boundary, steps=6)
        engine.send(
            "run", arm={"kind": "replay", "boundary": 3, "stage": 0, "overrides": {},
                        "observed": True, "cache_samples": 0},
            steps=5000, warmup_steps=2, seed=1, groups=1, max_seconds=0, profile=False,
            settling_steps=None,
        )  # fmt: skip
        assert engine.answer()["type"] == "error"
        engine.finish()

    done = run_script(tmp_path, script, script_text(processes, 4000, failing), fresh=True)
    assert done.returncode == 1 and "AssertionError: of the script" in done.stderr


@needs_command
def test_stages_are_those_of_the_report(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "grain:IterDataset")
    options = ("--budget", "10", "--sustain", "0")
    run = run_command(tmp_path, script_text(0, 100_000), options=options)
    assert run.end() == 0, run.errors()
    assert "Traceback" not in run.errors()
    report: Any = run.report()
    assert [stage["name"] for stage in report["stages"]] == STAGES


@needs_command
@pytest.mark.parametrize("processes", [0, 1])
def test_ctrl_c_leaves_no_process(processes: int, monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "grain:IterDataset")
    late = 'len(seen) == 120 and print("training", flush=True)  # Measured by now.'
    run = run_command(tmp_path, script_text(processes, 100_000, late))
    run.await_training()
    assert run.end(interrupted=True) == 130, run.errors()


SLOW = """
import time
import grain
import numpy
import torch

def read(index):
    return numpy.full(4, index, numpy.float32)

def augment(item):
    time.sleep(0.005)
    return item + 1

if __name__ == "__main__":
    data = grain.MapDataset.range(4000).shuffle(seed=1).map(read).map(augment).batch(4)
    options = grain.multiprocessing.MultiprocessingOptions(num_workers=PROCESSES)
    data = data.to_iter_dataset(grain.ReadOptions(1, 4)).mp_prefetch(options)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    for epoch in range(1000):
        for x in data:
            optimizer.zero_grad()
            model(torch.from_numpy(x)).sum().backward()
            optimizer.step()
"""


@pytest.mark.nightly
@needs_command
@pytest.mark.parametrize("processes", [0, 2])
def test_the_verdict_names_a_slow_transformation(
    processes: int, monkeypatch: Any, tmp_path: Any
) -> None:
    """It takes 20 ms of each batch, and all else a fiftieth of that."""
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "grain:IterDataset")
    text = SLOW.replace("PROCESSES", str(processes))
    run = run_command(tmp_path, text, options=("--budget", "30", "--sustain", "0"))
    assert run.end() == 0, run.errors()
    report: Any = run.report()
    assert report["verdict"]["stage"] == "map augment", report["verdict"]
