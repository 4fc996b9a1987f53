"""`time -c FILE`, `profile -c FILE` and `run -c FILE`: what a file of LightningCLI describes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import COMMAND, needs_command, needs_installed

pytestmark = [needs_command, needs_installed("lightning", "jsonargparse")]

MODULE = """
import lightning, torch
from torch.utils.data import DataLoader, Dataset

class Noise(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((8,), float(index))

class Model(lightning.LightningModule):
    def __init__(self, width: int = 4):
        super().__init__()
        self.net = torch.nn.Linear(8, width)
    def training_step(self, batch, _index):
        return self.net(batch).square().mean()
    def validation_step(self, batch, _index):
        raise AssertionError("nothing is validated")
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)

class Data(lightning.LightningDataModule):
    def __init__(self, batch_size: int = 16):
        super().__init__()
        self.batch_size = batch_size
    def train_dataloader(self):
        return DataLoader(Noise(), batch_size=self.batch_size)
    def val_dataloader(self):
        return DataLoader(Noise(), batch_size=self.batch_size)
"""

CONFIG = """
seed_everything: 1
trainer:
  accelerator: cpu
  max_epochs: 50
  callbacks:
    - class_path: lightning.pytorch.callbacks.ModelCheckpoint
      init_args: {monitor: loss}
    - class_path: lightning.pytorch.callbacks.LearningRateMonitor
"""

PLAIN = CONFIG + "model: {width: 2}\ndata: {batch_size: 4}\n"
WITH_CLASSES = (
    CONFIG
    + """
model: {class_path: src.module.Model, init_args: {width: 2}}
data: {class_path: src.module.Data, init_args: {batch_size: 4}}
"""
)
CLASSES = ["--model-class", "src.module.Model", "--data-class", "src.module.Data"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text(MODULE)
    (tmp_path / "plain.yaml").write_text(PLAIN)
    (tmp_path / "classes.yaml").write_text(WITH_CLASSES)
    return tmp_path


def command(folder: Path, *words: str) -> Any:
    return subprocess.run(
        [COMMAND, *words, "--python", sys.executable], cwd=folder, capture_output=True, text=True
    )


def files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if "__pycache__" not in path.parts}


@pytest.mark.parametrize("config,classes", [("plain.yaml", CLASSES), ("classes.yaml", [])])
def test_time_divides_the_batches_of_a_lightning_training(
    folder: Path, config: str, classes: list[str]
) -> None:
    words = ["time", "-c", config, *classes, "--epochs", "2", "--precision", "32"]
    done = command(folder, *words, "--save-dir", "out", "--no-progress")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((folder / "out/timing_results.csv").open()))
    # The first four are not timed, and nothing follows the last one, which would end it.
    assert len(rows) == 2 * 16 - 4 - 1
    for row in rows:
        assert all(float(row[f"{part}_seconds"]) > 0 for part in ("load", "forward", "backward"))
    assert (folder / "out/benchmark_config.yaml").read_text() == (folder / config).read_text()
    assert done.stdout.startswith(f"{config}: device CPU")
    assert "cachebisect run -c" in " ".join(done.stdout.split())
    written = {file for file in files(folder) if not file.startswith(("out/", "src/"))}
    assert written == {"plain.yaml", "classes.yaml"}  # No checkpoint, no log.


def test_profile_writes_the_files_of_all_three_profilers(folder: Path) -> None:
    kept = folder / "output/profiler/plain/profiler_logs.partial"
    kept.mkdir(parents=True)
    (kept / "notes.txt").write_text("the user's")
    words = ["profile", "-c", "plain.yaml", *CLASSES, "--max-batches", "8"]
    done = command(folder, *words)
    assert done.returncode == 0, done.stderr
    logs = folder / "output/profiler/plain/profiler_logs"
    kinds = ("simple", "advanced", "pytorch")
    names = {f"fit-{kind}_profiler_output.txt" for kind in kinds}
    assert names <= {file.name for file in logs.iterdir()}
    assert "run_training_epoch" in (logs / "fit-simple_profiler_output.txt").read_text()
    (trace,) = logs.glob("*.pt.trace.json")
    assert json.loads(trace.read_text())["traceEvents"]
    assert "Waiting for batches takes" in done.stdout
    again = command(folder, *words, "--profiler", "simple")
    assert again.returncode == 0, again.stderr
    assert "profiler_logs-2" in again.stdout  # The earlier ones are kept.
    assert sorted(each.name for each in logs.parent.iterdir()) == [
        "profiler_logs", "profiler_logs-2", "profiler_logs.partial"
    ]  # fmt: skip
    assert (kept / "notes.txt").read_text() == "the user's"


def test_run_bisects_it(folder: Path) -> None:
    words = ["run", "-c", "classes.yaml", "--budget", "2", "--no-explain", "--json", "report.json"]
    done = command(folder, *words, "--no-progress")
    assert done.returncode == 0, done.stderr
    stages = json.loads((folder / "report.json").read_text())["stages"]
    assert "read Noise.__getitem__" in [stage["name"] for stage in stages]


@pytest.mark.parametrize(
    "words,why",
    [
        (["-c", "missing.yaml", *CLASSES], "missing.yaml"),
        (["-c", "plain.yaml", "--model-class", "src.module.Other"], "has no Other"),
        (["-c", "plain.yaml", "--model-class", "nowhere.Model"], "No module named 'nowhere'"),
        (["-c", "plain.yaml", "--model-class", "Model"], "write the import path"),
        (["-c", "plain.yaml", *CLASSES, "--precision", "17"], "precision"),
        (["-c", "plain.yaml", *CLASSES, "--workers", "3"], "sets its own data"),
        (["-c", "plain.yaml", "--pipeline", "x.json"], "leave out the pipeline"),
        (["--model-class", "src.module.Model", "--pipeline", "x.json"], "need the file"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, words: list[str], why: str) -> None:
    before = files(folder)
    done = command(folder, "time", *words, "--save-dir", "out")
    assert done.returncode in (2, 3), done.stderr
    assert why in done.stderr
    assert {file for file in files(folder) if not file.startswith("out")} == before
    assert not os.path.exists(folder / "out" / "timing_summary.yaml")


def test_a_training_that_fails_leaves_no_profile(folder: Path) -> None:
    text = (folder / "src/module.py").read_text()
    (folder / "src/module.py").write_text(text.replace("self.net(batch)", "self.lost(batch)"))
    done = command(folder, "profile", "-c", "plain.yaml", *CLASSES, "--profiler", "simple")
    assert done.returncode == 3
    assert "has no attribute 'lost'" in done.stderr
    assert not list((folder / "output").rglob("*.txt"))
