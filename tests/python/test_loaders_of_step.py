"""Two loaders between two optimizer steps: both are stages, and the slower one is bisected."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

LOADERS = """
import time

class Slow(Items):
    def __getitem__(self, index):
        time.sleep(0.02)
        return super().__getitem__(index)

fast = DataLoader(Items(), batch_size=4)
slow = DataLoader(Slow(), batch_size=4)
"""

ZIPPED = """
for epoch in range(2):
    for a, b in zip({first}, {second}):
        step(a + b)
print("end", flush=True)
"""

KEPT = """
from itertools import cycle
labelled, unlabelled = iter(fast), cycle(slow)
for number in range(150):
    step(next(labelled) + next(unlabelled))
print("end", flush=True)
"""


@pytest.mark.parametrize(
    "loop,begins",
    [
        (ZIPPED.format(first="fast", second="slow"), "zip("),
        (ZIPPED.format(first="slow", second="fast"), "zip("),
        (KEPT, "iter(fast)"),
    ],
)
def test_the_slow_one_is_bisected_and_the_other_is_a_stage(
    loop: str, begins: str, tmp_path: Any
) -> None:
    text = HEAD + LOADERS + loop
    line = 1 + next(n for n, words in enumerate(text.splitlines()) if begins in words)
    blocks: list[Any] = []

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        names = [stage["name"] for stage in described["chain"]["stages"]]
        assert names[:2] == ["read Slow.__getitem__", "collate_fn default_collate"]
        assert names[2].startswith("loader ") and names[2].endswith(f"(train.py:{line})"), names
        assert any("is read in each step, too" in note for note in described["notes"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for boundary in range(4):
            blocks.append(engine.run(boundary=boundary, steps=6))
        engine.ask("finish", then="exit", exit_code=7, text="")

    done = run_script(tmp_path, script, text)
    assert done.returncode == 7, done.stderr
    assert not any(block["void"] for block in blocks)
    # The other loader is called for each step until the last boundary, which holds its batches.
    other = [block["stages"][2]["samples"] for block in blocks]
    assert all(other[:3]) and other[3] == 0
    slow = [block["stages"][0]["samples"] for block in blocks]
    assert slow[0] and not any(slow[1:])


def test_a_loop_goes_on_where_both_loaders_were(tmp_path: Any) -> None:
    text = """
first = DataLoader(Items(), batch_size=4)
second = DataLoader(Items(), batch_size=4, num_workers=1)
last = None
for epoch in range(2):
    for number, (a, b) in enumerate(zip(first, second)):
        step(a + b)
        last = a, b
    print(a[-1, 0].item(), b[-1, 0].item(), flush=True)
"""

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.run(boundary=0, steps=6)
        engine.run(boundary=len(described["chain"]["stages"]), steps=6)
        engine.finish()

    done = run_script(tmp_path, script, HEAD + text)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "799.0 799.0\n" * 2


def test_validation_by_a_kept_iterator_is_no_training_step(tmp_path: Any) -> None:
    text = """
validation = iter(DataLoader(Items(), batch_size=2))
train = DataLoader(Items(), batch_size=4)
for epoch in range(3):
    for number, x in enumerate(train):
        if number % 40 == 39:
            with torch.no_grad():
                model(next(validation))
        step(x)
print("end", flush=True)
"""

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        names = [stage["name"] for stage in described["chain"]["stages"]]
        assert names == ["read Items.__getitem__", "collate_fn default_collate"]
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        block = engine.run(boundary=0, steps=60)
        assert block["steps"] < 60 or block["void"]
        assert engine.run(boundary=0, steps=10)["steps"] == 10
        engine.finish()

    done = run_script(tmp_path, script, HEAD + text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr
