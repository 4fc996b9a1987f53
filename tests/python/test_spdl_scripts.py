"""Scripts that train from a pipeline of SPDL, which `--iterator` names."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("spdl.pipeline")

from hooked import run_in_fork, run_script
from test_continue import without_measured_steps
from test_iterator import every_boundary, name

SCRIPT = """
import json
import torch
from spdl.pipeline import PipelineBuilder

def load(number):
    return torch.full((2,), float(number))

def double(item):
    return item * 2

def built(source):
    builder = PipelineBuilder().add_source(source).pipe(load)
    builder = builder.pipe(double, concurrency=2, output_order="input")
    builder = builder.aggregate(4, drop_last=True).pipe(torch.stack, name="collate").add_sink(2)
    return builder.build(num_threads=2)

torch.manual_seed(1)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
seen = []
for epoch in range(3):
    pipeline = built(SOURCE)
    with pipeline.auto_stop():
        for x in LOOP:
            seen.append(x[:, 0].tolist())
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
print(json.dumps([model.weight.tolist(), torch.rand(1).item(), seen]))
"""

STAGES = [
    "source range", "pipe load", "pipe double (concurrency 2)", "aggregate(4)", "pipe collate",
]  # fmt: skip

LOADER = """
import torch
from spdl.dataloader import DataLoader

def collate(numbers):
    return torch.tensor(numbers, dtype=torch.float32)[:, None]

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
loader = DataLoader(list(range(400)), batch_size=4, aggregator=collate, num_threads=2)
for epoch in range(100):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


def script_text(source: str = "range(2000)", loop: str = "pipeline") -> str:
    return SCRIPT.replace("SOURCE", source).replace("LOOP", loop)


@pytest.mark.parametrize(
    "named,loop",
    [
        ("spdl.pipeline:Pipeline", "pipeline"),
        ("spdl.pipeline:Pipeline.get_iterator", "pipeline.get_iterator(timeout=60)"),
    ],
)
def test_training_goes_on_as_if_nothing_had_been(
    named: str, loop: str, monkeypatch: Any, tmp_path: Any
) -> None:
    found: list[Any] = []
    name(monkeypatch, named)
    text = script_text(loop=loop)
    done = run_script(tmp_path, lambda e: found.extend(every_boundary(e)), text, fresh=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(), untouched.pop()
    assert without_measured_steps(*orders) == orders[1]
    assert measured == untouched
    assert found[0] == STAGES
    assert not any("cannot be opened twice" in note for note in found[1])


def test_a_script_that_fails_in_a_block_ends(monkeypatch: Any, tmp_path: Any) -> None:
    name(monkeypatch, "spdl.pipeline:Pipeline", "exit")
    text = script_text("range(10**9)").replace(
        "optimizer.step()", "optimizer.step()\n            assert len(seen) < 300, 'of the script'"
    )

    def script(engine: Any) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.ask("begin_round")
        for boundary in (0, 2):
            engine.run(boundary=boundary, steps=6)
        arm = {"kind": "replay", "boundary": 2, "stage": 0, "overrides": {}, "observed": True,
               "cache_samples": 0}  # fmt: skip
        engine.send("run", arm=arm, steps=5000, warmup_steps=2, seed=1, groups=1, max_seconds=0,
                    profile=False, settling_steps=None)  # fmt: skip
        assert engine.answer()["type"] == "error"
        engine.ask("finish", then="exit", exit_code=3, text="")

    done = run_script(tmp_path, script, text, fresh=True)
    assert done.returncode == 1 and "AssertionError: of the script" in done.stderr


@pytest.mark.parametrize(
    "named,text,stages",
    [
        ("spdl.dataloader:DataLoader", LOADER, None),
        ("spdl.pipeline:Pipeline", script_text("iter(range(10**9))"), ["loader Pipeline"]),
    ],
)
def test_what_is_a_stage(
    named: str, text: str, stages: Any, monkeypatch: Any, tmp_path: Any
) -> None:
    """A source that gives each item once has no second pipeline."""
    found: list[Any] = []
    name(monkeypatch, named, "exit")
    run_script(tmp_path, lambda e: found.extend(every_boundary(e, "exit")), text, fresh=True)
    if stages is not None:
        assert found[0] == stages
    else:
        assert found[0][0].startswith("source ") and "aggregate(4)" in found[0], found[0]
