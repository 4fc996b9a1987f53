"""Scripts that train from a torchdata.nodes.Loader, and the library call."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nodes = pytest.importorskip("torchdata.nodes")

import cachebisect
from commands import COMMAND, needs_command
from commands import run_script as run_command
from hooked import run_in_fork, run_script
from node_blocks import numbers
from node_pipeline import MEMBERS, Calls
from test_continue import without_measured_steps
from test_iterator import every_boundary, name

SCRIPT = f"""
import json, random, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import torch
from torch.utils.data import RandomSampler
from torchdata.nodes import Loader, SamplerWrapper
from node_pipeline import Calls

torch.manual_seed(1)
random.seed(1)
class Noise:
    def __init__(self):
        self.draws, self.count = random.Random(5), 0

    def __call__(self, item):
        self.count += 1
        return item + self.draws.choice([0, 2]) + self.count % 7 * 4

calls = Calls(noise=Noise())
generator = torch.Generator().manual_seed(2)
loader = calls.loader(SamplerWrapper(RandomSampler(range(180), generator=generator)))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
seen = []
for epoch in range(EPOCHS):
    for x in loader:
        seen.append(sorted(x[:, 0].tolist()))
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
print(json.dumps([model.weight.tolist(), torch.rand(1).item(), random.random(), seen]))
"""
"""Which items a batch has depends on the buffer; their order, on two threads, does not."""


def test_training_goes_on_as_if_nothing_had_been(monkeypatch: Any, tmp_path: Any) -> None:
    found: list[Any] = []
    name(monkeypatch, "torchdata.nodes:Loader")
    script = SCRIPT.replace("EPOCHS", "4")
    done = run_script(tmp_path, lambda engine: found.extend(every_boundary(engine)), script)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(), untouched.pop()
    assert without_measured_steps(*orders) == orders[1]
    assert measured == untouched
    assert found[0] == [
        "SamplerWrapper RandomSampler", MEMBERS[1], "Mapper Noise", *MEMBERS[2:],
    ]  # fmt: skip
    assert not any("cannot be opened twice" in note for note in found[1])


def test_a_script_that_ends_is_measured(monkeypatch: Any, tmp_path: Any) -> None:
    name(monkeypatch, "torchdata.nodes:Loader", "exit")
    script = SCRIPT.replace("EPOCHS", "100")
    done = run_script(tmp_path, lambda engine: every_boundary(engine, "exit"), script)
    assert (done.returncode, done.stdout) == (7, ""), done.stderr


SLOW = """
import time
import torch
from torchdata.nodes import *

def read(index):
    return torch.full((4,), float(index))

def augment(item):
    time.sleep(0.005)
    return item + 1

node = ParallelMapper(IterableWrapper(range(4000)), read, num_workers=2)
node = Batcher(Mapper(node, augment), 4)
loader = Loader(Prefetcher(Mapper(node, torch.stack), 2))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
for epoch in range(1000):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


def report_of(monkeypatch: Any, tmp_path: Any) -> Any:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "torchdata.nodes:Loader")
    run = run_command(tmp_path, SLOW, options=("--budget", "20", "--sustain", "0"))
    assert run.end() == 0, run.errors()
    assert "Traceback" not in run.errors()
    return run.report()


@needs_command
def test_members_are_stages_of_the_report(monkeypatch: Any, tmp_path: Any) -> None:
    names = [stage["name"] for stage in report_of(monkeypatch, tmp_path)["stages"]]
    assert "Mapper augment" in names and "Batcher 4" in names


@pytest.mark.nightly
@needs_command
def test_the_verdict_names_a_slow_member(monkeypatch: Any, tmp_path: Any) -> None:
    """It takes 20 ms of each batch, and all else a fiftieth of that."""
    verdict = report_of(monkeypatch, tmp_path)["verdict"]
    assert verdict["stage"] == "Mapper augment", verdict


@needs_command
def test_the_library_call_leaves_the_loader_where_it_was(monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))
    generator = torch.Generator().manual_seed(2)
    sampler = torch.utils.data.RandomSampler(range(400), generator=generator)
    loader = Calls(collate=0.01).loader(nodes.SamplerWrapper(sampler))
    own = iter(loader)
    first = numbers([next(own)])
    state, draws = loader.state_dict(), generator.get_state()
    report = cachebisect.bisect(loader, lambda _: None, budget=20, progress=False)
    assert report.exit_code == 0 and "Mapper collate" in json.dumps(report.to_dict())
    assert loader.state_dict() == state and bool((generator.get_state() == draws).all())
    values = [value for batch in [*first, *numbers(list(own))] for value in batch]
    assert sorted(values) == [2.0 * number for number in range(400)]
