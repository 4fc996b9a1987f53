"""`cachebisect prepare --out DIR -- CMD`: an unchanged script, and what is printed of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import cachebisect
from cached_data import Jitter, Numbers, Scale, same
from commands import COMMAND, HERE, HOOK, needs_command

pytestmark = needs_command

SCRIPT = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from cached_data import Jitter, Numbers, Scale
from loaders import Descent

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = Descent(model.parameters(), 1e-6)
    print("the script's own words")
    for x, _ in DataLoader(DATASET, batch_size=4, shuffle=True):
        model(x[:, :4]).sum().backward()
        optimizer.step()
        print("step", flush=True)
"""


def prepare(
    place: Path, *options: str, dataset: str = "Numbers(Scale(), Jitter())", text: str = SCRIPT
) -> subprocess.CompletedProcess[str]:
    script = place / "train.py"
    script.write_text(text.replace("DATASET", dataset))
    words = [COMMAND, "prepare", "--out", str(place / "set"), "--hook", str(HOOK), *options]
    return subprocess.run(
        [*words, "--", sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )


def test_the_data_set_is_written_and_the_lines_that_use_it_are_printed(tmp_path: Path) -> None:
    done = prepare(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "In the script:" in done.stdout
    assert f"cachebisect.prepared(dataset, '{tmp_path / 'set'}')" in done.stdout
    assert "the script's own words" in done.stdout
    assert "step" not in done.stdout.splitlines()
    train = cachebisect.prepared(Numbers(Scale(), Jitter()), tmp_path / "set")
    assert len(train) == len(Numbers())
    assert train[3] is not None and train.hits == 1


def test_json_goes_to_a_file_or_to_standard_output_alone(tmp_path: Path) -> None:
    done = prepare(tmp_path, "--dry-run", "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dry_run"] and found["boundaries"]
    assert "the script's own words" in done.stderr
    assert not (tmp_path / "set" / "index.json").exists()


def test_a_dry_run_prints_no_lines_to_write(tmp_path: Path) -> None:
    done = prepare(tmp_path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "In the script:" not in done.stdout


@pytest.mark.parametrize(
    ("options", "dataset", "words"),
    [
        (("--after", "nowhere"), "Numbers(Scale(), Jitter())", "nowhere"),
        (("--codec", "lz4"), "Numbers(Scale())", "do not apply"),
        (("--pipeline", "x.json"), "Numbers(Scale())", "do not apply"),
        (("--workers", "-1"), "Numbers(Scale())", "--workers"),
        (("--loader", "7"), "Numbers(Scale())", "--loader N"),
    ],
)
def test_what_cannot_be_prepared_is_refused(
    tmp_path: Path, options: tuple[str, ...], dataset: str, words: str
) -> None:
    done = prepare(tmp_path, *options, dataset=dataset)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert not (tmp_path / "set" / "index.json").exists()


def test_a_script_that_fails_before_is_told_apart(tmp_path: Path) -> None:
    done = prepare(tmp_path, text="raise SystemExit(7)")
    assert done.returncode == 3
    assert "ended with exit code 7" in done.stderr


def test_samples_are_those_of_the_dataset(tmp_path: Path) -> None:
    assert prepare(tmp_path, dataset="Numbers(Scale())").returncode == 0
    whole = Numbers(Scale())
    train = cachebisect.prepared(Numbers(Scale()), tmp_path / "set")
    for index in range(len(whole)):
        assert same(whole[index], train[index])
