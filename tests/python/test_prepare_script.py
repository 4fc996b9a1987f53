"""The hook of `cachebisect prepare -- CMD`: an unchanged script, by the environment alone.

In a Python of its own that begins with the hook: test_prepare_command.py.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from cached_data import Jitter, Numbers, Scale, same
from hooked import HERE, HOOK, run_hooked
from prepared_data import FAULT

SCRIPT = f"""
import atexit, os, sys
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader, IterableDataset
from cached_data import Jitter, Numbers, Scale
from prepared_data import Files

class Endless(IterableDataset):
    def __iter__(self):
        return iter([torch.zeros(4)] * 8)

if __name__ == "__main__":
    atexit.register(lambda: print("cleaned up"))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    validation = DataLoader(Numbers(Scale(5), count=30), batch_size=4)
    train = DataLoader(DATASET, batch_size=4, num_workers=WORKERS, shuffle=True)
    with torch.no_grad():
        sum(1 for _ in validation)
    for x, _ in train:
        model(x[:, :4]).sum().backward()
        optimizer.step()
        print("step", flush=True)
    print("end")
"""


def run(
    place: Path,
    dataset: str = "Numbers(Scale(), Jitter())",
    text: str = SCRIPT,
    environment: Any = None,
    workers: int = 0,
    fresh: bool = False,
    **options: Any,
) -> tuple[subprocess.CompletedProcess[str], Any]:
    path = place / "train.py"
    path.write_text(text.replace("DATASET", dataset).replace("WORKERS", str(workers)))
    result = place / "result.json"
    asked = {"folder": str(place / "set"), "result": str(result), **options}
    variables = {"PYTHONPATH": str(HOOK), "CACHEBISECT_PREPARE": json.dumps(asked)}
    done = run_hooked(path, {**os.environ, **variables, **(environment or {})}, place, fresh)
    return done, json.loads(result.read_text()) if result.exists() else None


def test_the_dataset_of_the_training_loader_is_prepared(tmp_path: Path) -> None:
    done, result = run(tmp_path, workers=2)
    assert done.returncode == 0 and done.stdout == "cleaned up\n"
    assert result["ok"] and "Numbers" not in result.get("error", "")
    assert [row["after"] for row in result["table"]] == ["transforms[0] Scale"]
    assert result["summary"]["samples"] == result["summary"]["written"] == 40
    assert result["summary"]["loader"] == "loader 2 (train.py:21)"
    assert "prepared 40 of 40 samples" in done.stderr
    dataset = Numbers(Scale(), Jitter())
    names = {"dataset": dataset}
    exec("\n".join(result["lines"]), names)
    read = names["dataset"]
    torch.manual_seed(3)
    wanted = dataset[7]
    torch.manual_seed(3)
    assert same(read[7], wanted) and read.hits == 1


def test_options_are_those_of_prepare(tmp_path: Path) -> None:
    asked = {"after": "sample", "frozen": True, "shard_bytes": 65536, "workers": 2, "version": "v"}
    _done, result = run(tmp_path, "Numbers(Scale(), Jitter(), width=1000)", **asked)
    assert result["ok"] and result["summary"]["after"] == "sample"
    assert result["summary"]["shards"] > 2
    index = json.loads((tmp_path / "set" / "index.json").read_text())
    assert (index["version"], index["frozen"]) == ("v", True)
    _done, again = run(tmp_path, "Numbers(Scale(), Jitter(), width=1000)", **asked)
    assert again["ok"] and again["summary"]["written"] == 0


def test_nothing_is_written_in_a_dry_run(tmp_path: Path) -> None:
    _done, result = run(tmp_path, dry_run=True)
    assert result["ok"] and result["summary"]["dry_run"] and result["text"].count("\n") >= 3
    assert not (tmp_path / "set").exists()


def test_another_loader_may_be_named(tmp_path: Path) -> None:
    done, result = run(tmp_path, loader=1)
    assert result["ok"] and result["summary"]["samples"] == 30
    assert done.stdout == "cleaned up\n"


def test_a_loader_that_is_never_iterated(tmp_path: Path) -> None:
    done, result = run(tmp_path, loader=3)
    assert result is None and done.returncode == 0
    assert done.stdout.splitlines()[-2:] == ["end", "cleaned up"]


@pytest.mark.parametrize(
    ("dataset", "options", "words"),
    [
        ("Numbers(Jitter())", {}, "makes another output in every epoch"),
        ("Numbers(Scale())", {"after": "transforms[5]"}, "is no stage"),
        ("Numbers(Scale())", {"shard_bytes": 10}, "at least"),
        ("Numbers(Scale())", {"frozen": True}, "needs after="),
        ("Numbers(Scale())", {"folder": __file__}, "cannot be used"),
    ],
)
def test_what_cannot_be_prepared_is_an_error_of_usage(
    tmp_path: Path, dataset: str, options: Any, words: str
) -> None:
    done, result = run(tmp_path, dataset, **options)
    assert done.returncode == 0 and "step" not in done.stdout
    assert (result["ok"], result["kind"]) == (False, "usage")
    assert words in result["error"]


def test_samples_without_an_index(tmp_path: Path) -> None:
    text = SCRIPT.replace(", shuffle=True", "")
    _done, result = run(tmp_path, "Endless()", text=text)
    assert (result["ok"], result["kind"]) == (False, "usage")
    assert "Endless has no samples by index" in result["error"]


def test_a_sample_that_fails_is_an_error_of_the_data(tmp_path: Path) -> None:
    _done, result = run(tmp_path, "Files()", environment={FAULT: "250 error"}, shard_bytes=1 << 20)
    assert (result["ok"], result["kind"]) == (False, "data")
    assert result["error"] == "sample 250: LookupError: no such file"
    assert len(list((tmp_path / "set").glob("shard-*.tar"))) == 2
    _done, result = run(tmp_path, "Files()", shard_bytes=1 << 20)
    assert result["ok"] and 0 < result["summary"]["written"] < 300


def test_other_ranks_go_on_as_they_are(tmp_path: Path) -> None:
    done, result = run(tmp_path, environment={"RANK": "1"})
    assert result is None and done.stdout.count("step") == 10


def test_a_result_that_cannot_be_written(tmp_path: Path) -> None:
    done, _ = run(tmp_path, result=str(tmp_path / "missing" / "result.json"))
    assert done.returncode == 0 and "the result cannot be written" in done.stderr


def test_children_of_the_script_do_nothing(tmp_path: Path) -> None:
    text = SCRIPT.replace("num_workers=WORKERS", "num_workers=1, multiprocessing_context='spawn'")
    done, result = run(tmp_path, text=text, fresh=True)
    assert result["ok"] and done.stdout == "cleaned up\n"
    assert (tmp_path / "set" / "index.json").exists()
    assert cachebisect.prepared(Numbers(Scale(), Jitter()), tmp_path / "set").after


def test_a_script_that_catches_its_end_trains_no_step(tmp_path: Path) -> None:
    loop = """
    try:
        for x, _ in train:
            print("step", flush=True)
    except BaseException as error:
        print("caught", repr(error), flush=True)
    for x, _ in train:
        print("step", flush=True)
"""
    begin = SCRIPT.index("    for x, _ in train:")
    end = SCRIPT.index('    print("end")')
    done, result = run(tmp_path, text=SCRIPT[:begin] + loop.lstrip("\n") + SCRIPT[end:])
    assert result["ok"]
    assert "caught SystemExit(0)" in done.stdout
    assert "step" not in done.stdout.split()
    assert "end" not in done.stdout.split()
