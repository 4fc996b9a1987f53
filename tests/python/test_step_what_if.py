"""A whole call of the library in which the step is computed in another way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import COMMAND, ROOT, needs_command

pytestmark = needs_command

SCRIPT = """
import sys
import torch, cachebisect
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
data = TensorDataset(torch.rand(256, 3, 8, 8), torch.randint(0, 2, (256,)))

def step(batch):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
    optimizer.step()

before = [tensor.clone() for tensor in model.state_dict().values()]
report = cachebisect.bisect(
    DataLoader(data, batch_size=8), step, state=[model, optimizer], model=GIVEN,
    what_if=["amp", "channels_last"], verify=True, budget=12, progress=False,
    options=["--sustain", "0"],
)
after = list(model.state_dict().values())
assert all(map(torch.equal, before, after)), "the weights have changed"
assert model[0].weight.is_contiguous() and optimizer.state_dict()["state"] == {}
assert "forward" not in vars(model) and not torch.is_autocast_enabled("cpu")
report.save(sys.argv[1])
"""


def what_ifs(tmp_path: Path, given: str) -> Any:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("GIVEN", given), encoding="utf-8")
    environment = {
        **os.environ,
        "CACHEBISECT_BINARY": str(COMMAND),
        "PYTHONPATH": str(ROOT / "python"),
    }
    words = [sys.executable, str(script), str(tmp_path / "report.json")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "report.json").read_text())["what_ifs"]


def test_the_step_is_computed_in_another_way_and_all_is_put_back(tmp_path: Path) -> None:
    found = what_ifs(tmp_path, "model")
    assert [each["change"] for each in found] == ["amp", "channels_last"]
    for each in found:
        assert "changes training" in each["note"]
        was_run = each["measured"]["samples_per_second"] is not None
        assert was_run or "the budget ended" in each["note"], each


def test_without_a_model_the_report_says_how_to_give_it(tmp_path: Path) -> None:
    for each in what_ifs(tmp_path, "None"):
        assert each["measured"]["samples_per_second"] is None
        assert "model=model" in each["note"], each
