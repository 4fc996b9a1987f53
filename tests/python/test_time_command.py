"""`cachebisect time -- CMD`: unchanged scripts, and the files that are written."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HERE, HOOK, needs_command

pytestmark = needs_command

SCRIPT = f"""
import sys, time
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Descent, Items, Member

class Halved(DataLoader):
    # Gives every batch in two halves, as loaders of other libraries change what they give.
    def __iter__(self):
        for x, y in super().__iter__():
            yield x[:2], y[:2]
            yield x[2:], y[2:]

class Slow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 1)
    def forward(self, x):
        time.sleep(0.004)
        return self.inner(x)

if __name__ == "__main__":
    model = Slow()
    optimizer = Descent(model.parameters(), 1e-6)
    train = DataLoader(Items(Compose([Member(1, 0.002)]), 48), batch_size=4, num_workers=WORKERS)
    validation = DataLoader(Items(length=16), batch_size=8)
    for epoch in range(4):
        for x, _ in train:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        with torch.no_grad():
            for x, _ in validation:
                model(x)
        print("epoch", epoch, flush=True)
    ENDING
"""


def time_script(
    folder: Path,
    *options: str,
    workers: int = 0,
    ending: str = "print('end')",
    loader: str = "DataLoader",
) -> subprocess.CompletedProcess[str]:
    path = folder / "train.py"
    script = SCRIPT.replace("WORKERS", str(workers)).replace("ENDING", ending)
    path.write_text(script.replace("= DataLoader(Items(Compose", f"= {loader}(Items(Compose"))
    words = [str(COMMAND), "time", "--hook", str(HOOK), "--save-dir", str(folder / "out"), *options]
    return subprocess.run(
        [*words, "--", sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "out" / "timing_results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_script_is_timed_for_so_many_epochs(tmp_path: Path) -> None:
    done = time_script(tmp_path, "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert "epoch 0" in done.stdout
    assert "epoch 2" not in done.stdout
    found = rows(tmp_path)
    assert [int(row["epoch"]) for row in found] == [0] * 8 + [1] * 12
    for row in found:
        assert int(row["samples"]) == 4
        assert float(row["load_seconds"]) >= 0.008  # 4 samples of 2 ms
        assert float(row["forward_seconds"]) >= 0.004
        assert float(row["backward_seconds"]) > 0
        assert float(row["optimizer_seconds"]) > 0
        names = ("load", "forward", "backward", "optimizer", "other")
        parts = sum(float(row[f"{name}_seconds"]) for name in names)
        assert parts == pytest.approx(float(row["total_seconds"]))
        assert row["starved"] == row["copy_seconds"] == ""
    assert "cachebisect run -- " in done.stdout
    assert "Timing costs" in done.stdout


def test_a_loader_that_iterates_in_its_own_way_is_timed_as_the_script_sees_it(
    tmp_path: Path,
) -> None:
    done = time_script(tmp_path, "--epochs", "1", loader="Halved")
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path)
    assert {int(row["samples"]) for row in found} == {2}
    # The first half of each batch waits for its four samples.
    assert sum(float(row["load_seconds"]) >= 0.008 for row in found) >= len(found) // 3


def test_a_script_may_go_on(tmp_path: Path) -> None:
    done = time_script(tmp_path, "--max-batches", "5", "--then", "continue", workers=1)
    assert done.returncode == 0, done.stderr
    assert "end" in done.stdout.splitlines()
    assert len(rows(tmp_path)) == 5


def test_a_script_that_fails_is_exit_3_with_what_was_timed(tmp_path: Path) -> None:
    done = time_script(tmp_path, "--epochs", "9", ending="raise ValueError('loss is nan')")
    assert done.returncode == 3
    assert "loss is nan" in done.stderr
    assert "until the script ended" in done.stdout
    assert len(rows(tmp_path)) == 4 * 12 - 4


def test_what_is_no_training_script_is_refused(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), "time", "--hook", str(HOOK), "--save-dir", str(tmp_path / "no")]
        return subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=300, check=False
        )

    nothing = run("--", sys.executable, "-c", "pass")
    assert nothing.returncode == 2
    assert "torch.utils.data.DataLoader" in nothing.stderr
    failed = run("--", sys.executable, "-c", "raise SystemExit(7)")
    assert failed.returncode == 3
    assert "exit code 7" in failed.stderr
    mixed = run("--batch-size", "8", "--", sys.executable, "-c", "pass")
    assert mixed.returncode == 2
    assert "--epochs" in mixed.stderr
    assert not (tmp_path / "no").exists()
