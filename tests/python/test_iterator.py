"""`--iterator`: what is iterated in place of a DataLoader is measured, and training is the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from engine import TestEngine
from hooked import run_in_fork, run_script
from test_continue import without_measured_steps

SCRIPTS = Path(__file__).resolve().parent / "scripts"

TRAINING = f"""
import itertools, json, random, sys
sys.path.insert(0, {str(SCRIPTS)!r})
import torch
import own_batches
from own_batches import *

torch.manual_seed(1)
random.seed(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
seen = []

def train(x, number):
    seen.append(int(number))
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()

%s
print(json.dumps([model.weight.tolist(), torch.rand(1).item(), random.random(), seen]))
"""

EPOCHS = """
%s
for epoch in range(4):
    for x, number in %s:
        train(x, number)
"""

DALI = """
loader = NeedsReset()
for epoch in range(4):
    for data in loader:
        train(data[0]["data"], data[0]["label"])
    loader.reset()
"""

NEXT_ALONE = """
loader = Augmenter()
for epoch in range(4):
    for _ in range(50):
        data = next(loader)
        train(torch.from_numpy(data["data"]), data["number"])
"""


def loop(iterated: str, before: str = "") -> str:
    return EPOCHS % (before, iterated)


SHORT = "own_batches.LENGTH = 33"
"""An epoch ends while it is measured."""

KINDS = {
    "numbers": ("numbers", loop("numbers(3)")),
    "shuffled": ("shuffled", loop("shuffled(generator)", "generator = random.Random(4)")),
    "reader": ("from_reader", loop("from_reader(reader)", "reader = itertools.count()")),
    "loader": ("from_loader", loop("from_loader(loader)", "loader = loader_of_numbers()")),
    "epochs": ("Epochs", loop("source", "source = Epochs()")),
    "part": ("Epochs", loop("source", "source = Changed(Epochs())")),
    "override": ("Epochs", loop("source", "source = EverySecond()")),
    "position": ("Position", loop("source", "source = Position()")),
    "own": ("Own", loop("source", "source = Own()")),
    "own_subclass": ("Own", loop("source", "source = Skipping()")),
    "skipping": ("Skipping", loop("source", "source = Skipping()")),
    "reset": ("NeedsReset", DALI),
    "augmenter": ("Augmenter", NEXT_ALONE),
    "reads_ahead": ("ReadsAhead", loop("source", "source = ReadsAhead()")),
    "short_reader": ("from_reader", SHORT + loop("from_reader(reader)",
                     "reader = itertools.count()")),
    "short_reads_ahead": ("ReadsAhead", SHORT + loop("source", "source = ReadsAhead()")),
    "short_own": ("Own", SHORT + loop("source", "source = Own()")),
    "short_reset": ("NeedsReset", SHORT + DALI),
    "method": ("Table.iter_batches", loop("table.iter_batches(first=2)", "table = Table()")),
    "iterable": ("Table.as_iterable", loop("table.as_iterable()", "table = Table()")),
    "static": ("Table.of_nothing", loop("Table.of_nothing()")),
    "class": ("Table.of_class", loop("Table.of_class()")),
}  # fmt: skip
"""What is named, and the loop."""


SUBCLASSES = {"own_subclass": "Skipping", "override": "EverySecond", "part": "Changed"}
"""Classes of objects where a base class is named."""


def every_boundary(engine: TestEngine, then: str = "continue") -> list[Any]:
    """The stages and the notes; each boundary is measured twice."""
    described = engine.greet()
    assert described["type"] == "describe", described
    names = [stage["name"] for stage in described["chain"]["stages"]]
    engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
    for _ in range(2):
        engine.ask("begin_round")
        for boundary in range(len(names) + 1):
            block = engine.run(boundary=boundary, steps=6)
            assert (block["steps"], block["void"]) == (6, False)
    engine.ask("finish", then=then, exit_code=7, text="")
    return [names, described["notes"]]


def order_of_training(measured: list[int], untouched: list[int]) -> list[int]:
    """What the loop got before measuring, and what followed on it after that."""
    before = next(n for n, pair in enumerate(zip(measured, untouched)) if pair[0] != pair[1])
    rest = next(
        n for n in range(before, len(measured)) if goes_on(measured[n:], untouched[before:])
    )
    assert rest - before >= 24
    return [*measured[:before], *measured[rest:]]


def goes_on(rest: list[int], expected: list[int]) -> bool:
    return rest == expected[: len(rest)]


def name(monkeypatch: Any, path: str, then: str = "continue") -> None:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", path)
    monkeypatch.setenv("CACHEBISECT_THEN", then)


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_as_if_nothing_had_been(
    kind: str, monkeypatch: Any, tmp_path: Any
) -> None:
    path, text = KINDS[kind]
    found: list[Any] = []
    name(monkeypatch, f"own_batches:{path}")
    done = run_script(
        tmp_path, lambda engine: found.extend(every_boundary(engine)), TRAINING % text
    )
    assert done.returncode == 0, done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(), untouched.pop()
    if kind == "augmenter":  # The loop counts its batches: those of measured steps, too.
        assert order_of_training(*orders) == orders[1][: len(order_of_training(*orders))]
    else:
        assert measured == untouched
        assert without_measured_steps(*orders) == orders[1]
    shown = SUBCLASSES.get(kind, path.split(".")[-1])
    assert found[0] == [f"loader {shown}"]


@pytest.mark.parametrize("kind", ["numbers", "reader", "own", "reset", "augmenter", "iterable"])
def test_a_script_that_ends_is_measured(kind: str, monkeypatch: Any, tmp_path: Any) -> None:
    path, text = KINDS[kind]
    name(monkeypatch, f"own_batches:{path}", "exit")
    done = run_script(tmp_path, lambda engine: every_boundary(engine, "exit"), TRAINING % text)
    assert (done.returncode, done.stdout) == (7, ""), done.stderr


@pytest.mark.parametrize("kind", ["own", "reader", "reads_ahead"])
def test_a_note_tells_of_batches_that_are_kept_for_training(
    kind: str, monkeypatch: Any, tmp_path: Any
) -> None:
    path, text = KINDS[kind]
    found: list[Any] = []
    name(monkeypatch, f"own_batches:{path}")
    run_script(tmp_path, lambda engine: found.extend(every_boundary(engine)), TRAINING % text)
    assert any("cannot be opened twice" in note for note in found[1])


COUNTED = """
for x, number in Counted():
    train(x, number)
    print(Counted.made, flush=True)
"""


def test_only_live_blocks_make_batches(monkeypatch: Any, tmp_path: Any) -> None:
    """The planted iterator works at boundary 0 alone, whatever the time."""
    made: list[list[int]] = []
    name(monkeypatch, "own_batches:Counted")

    def counts() -> list[int]:
        return [int(line) for line in (tmp_path / "script.out").read_text().split()]

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert [stage["type"] for stage in described["chain"]["stages"]] == ["read.Counted"]
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for boundary in (1, 0, 1):
            before = counts()
            engine.run(boundary=boundary, steps=8)
            made.append(counts()[len(before) :])
        engine.ask("finish", then="exit", exit_code=7, text="")

    assert run_script(tmp_path, script, TRAINING % COUNTED).returncode == 7
    assert len({*made[0]}) == 1 and len({*made[2]}) == 1
    assert len({*made[1]}) == len(made[1]) >= 8


def test_an_engine_that_dies_leaves_training_as_it_was(monkeypatch: Any, tmp_path: Any) -> None:
    path, text = KINDS["own"]
    name(monkeypatch, f"own_batches:{path}")

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.run(boundary=0, steps=6)

    done = run_script(tmp_path, script, TRAINING % text)
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    orders = json.loads(done.stdout)[-1], json.loads(alone.stdout)[-1]
    assert without_measured_steps(*orders) == orders[1]
    assert "training goes on" in done.stderr


def test_an_error_that_measuring_met_is_raised_where_training_meets_it(
    monkeypatch: Any, tmp_path: Any
) -> None:
    name(monkeypatch, "own_batches:Failing")

    def script(engine: TestEngine) -> None:
        engine.greet()
        answer = engine.ask("prepare", samples=400, host_bytes=None, device_bytes=None)
        assert answer["type"] == "error" and "bad shard" in answer["text"]
        engine.ask("finish", then="continue", exit_code=0, text="")

    done = run_script(tmp_path, script, TRAINING % loop("source", "source = Failing()"))
    assert done.returncode == 1 and "OSError: bad shard" in done.stderr


@pytest.mark.parametrize(
    "defined,path,iterated",
    [
        ("def own():\n    yield from numbers()\n", "own", "own()"),
        ("class Mine(Own):\n    pass\n", "Mine", "Mine()"),
        ("class Mine:\n    def each(self):\n        yield from numbers()\n", "Mine.each",
         "Mine().each()"),
    ],
)  # fmt: skip
def test_what_the_script_defines(
    defined: str, path: str, iterated: str, monkeypatch: Any, tmp_path: Any
) -> None:
    """Also for a single iterator, which is opened in the line after the definition."""
    found: list[Any] = []
    name(monkeypatch, f"__main__:{path}")
    once = f"source = {iterated}\nassert sys.gettrace() is None\nfor x, y in source: train(x, y)"
    text = f"import own_batches\nown_batches.LENGTH = 200\n{defined}{once}"
    done = run_script(
        tmp_path, lambda engine: found.extend(every_boundary(engine)), TRAINING % text, fresh=True
    )
    assert done.returncode == 0, done.stderr
    assert found[0] == [f"loader {path.split('.')[-1]}"]
