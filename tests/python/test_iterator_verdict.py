"""A whole run of the command over an iterator that is forty times as slow as the step."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from commands import needs_command, run_script

SLOW = """
import time
import torch

def batches():
    for number in range(1000):
        time.sleep(SLEEP)
        yield torch.full((4, 4), float(number))

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
for epoch in range(1000):
    for x in batches():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


@needs_command
@pytest.mark.nightly
def test_the_verdict_names_the_slow_iterator(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_ITERATOR", "__main__:batches")
    run = run_script(tmp_path, SLOW.replace("SLEEP", "0.02"))
    assert run.end() == 0, run.errors()
    report: Any = run.report()
    assert report["verdict"]["stage"] == "loader batches", report["verdict"]
