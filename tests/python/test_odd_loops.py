"""Loops that people write and frameworks do not: each is measured, and goes on to its own end."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

TWO_OF_ONE = """
train, other = DataLoader(Items(), batch_size=4), DataLoader(Items(), batch_size=4)
for epoch in range(3):
    more = iter(other)
    for number, x in enumerate(train):
        if number < 100:
            step(x + next(more) + next(more))
"""

ONE_OF_OTHER_PER_FOUR = """
train, other = DataLoader(Items(), batch_size=4), DataLoader(Items(), batch_size=4)
for epoch in range(3):
    more = iter(other)
    for number, x in enumerate(train):
        model(x).sum().backward()
        if number % 4 == 3:
            step(next(more))
"""

ONE_BATCH_PER_EPOCH = """
train = DataLoader(Items(), batch_size=800)
for epoch in range(150):
    for x in train:
        step(x)
"""

OPENED_EACH_STEP = """
train = DataLoader(Items(), batch_size=4)
for number in range(150):
    step(next(iter(train)))
"""

NEXT_BATCH_BEFORE_BACKWARD = """
batches = iter(DataLoader(Items(), batch_size=4))
hidden = torch.nn.Linear(4, 4)
optimizer.add_param_group({"params": hidden.parameters()})
x = next(batches)
for number in range(150):
    loss = model(hidden(x).square()).sum()
    x = next(batches)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

TEACHER = """
import time

class Slow(Items):
    def __getitem__(self, index):
        time.sleep(0.002)
        return super().__getitem__(index)

labelled, unlabelled = DataLoader(Items(), batch_size=4), DataLoader(Slow(), batch_size=4)
for epoch in range(2):
    more = iter(unlabelled)
    for x in labelled:
        with torch.no_grad():
            y = model(next(more))
        step(x)
"""

ORDER_IS_A_LIST = """
for epoch in range(2):
    for x in DataLoader(Items(), batch_size=4, sampler=list(range(800))):
        step(x)
"""


@pytest.mark.parametrize(
    "loop",
    [
        TWO_OF_ONE,
        ONE_OF_OTHER_PER_FOUR,
        ONE_BATCH_PER_EPOCH,
        OPENED_EACH_STEP,
        NEXT_BATCH_BEFORE_BACKWARD,
        TEACHER,
        ORDER_IS_A_LIST,
    ],
)
def test_an_odd_loop_is_measured(loop: str, tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for _ in range(2):
            engine.ask("begin_round")
            for boundary in (0, len(described["chain"]["stages"])):
                block = engine.run(boundary=boundary, steps=8, warmup=4)
                assert (block["steps"], block["void"]) == (8, False)
        engine.finish()

    done = run_script(tmp_path, script, HEAD + loop + "\nprint('end')\n")
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr
    assert "cachebisect" not in done.stderr, done.stderr


def test_persistent_workers_of_both_loaders_go_on(tmp_path: Any) -> None:
    loop = """
options = {"batch_size": 4, "num_workers": 1, "persistent_workers": True}
first, second = DataLoader(Items(), **options), DataLoader(Items(), **options)
for epoch in range(2):
    for number, (a, b) in enumerate(zip(first, second)):
        step(a + b)
    print(a[-1, 0].item(), b[-1, 0].item())
"""

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.run(boundary=0, steps=6)
        engine.finish()

    done = run_script(tmp_path, script, HEAD + loop)
    assert done.returncode == 0 and done.stdout == "799.0 799.0\n" * 2, done.stderr
