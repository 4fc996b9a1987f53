"""`tune -- python train.py`: trials next to the script's own loader; nothing of it is edited."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HERE, HOOK, SCRIPT, Run, needs_command

pytestmark = needs_command


def tune(tmp_path: Path, *options: str, late: str = "pass") -> Run:
    """A run of the script, whose loader waits 2 ms per sample in the training thread."""
    text = SCRIPT
    for word, value in (("WORKERS", "0"), ("METHOD", "None"), ("LATE", late)):
        text = text.replace(word, value)
    script = tmp_path / "train.py"
    script.write_text(text, encoding="utf-8")
    words = [str(COMMAND), "tune", "--hook", str(HOOK), "--no-progress", *options]
    return Run(tmp_path, [*words, "--", sys.executable, str(script)])


WAITS = """
import sys
sys.path.insert(0, HERE)
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Descent, Items, Member

if __name__ == "__main__":
    from cachebisect._cache import trial

    trial.most_memory = lambda: 1e6  # A cache in memory has no room.
    model = torch.nn.Linear(4, 1)
    optimizer = Descent(model.parameters(), 1e-6)
    loader = DataLoader(Items(Compose([Member(1, 0.01)]), 100_000), batch_size=4)
    while True:
        for x, _ in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
"""
"""An epoch takes 1,000 s: a later run gains by a cache on a disk."""


def tune_waiting(tmp_path: Path, *options: str) -> tuple[Any, str]:
    """The ladder, as JSON and as text."""
    script = tmp_path / "train.py"
    script.write_text(WAITS.replace("HERE", repr(str(HERE))), encoding="utf-8")
    words = [str(COMMAND), "tune", "--hook", str(HOOK), "--no-progress", *options]
    path = str(tmp_path / "ladder.json")
    run = Run(tmp_path, [*words, "--json", path, "--", sys.executable, str(script)])
    assert run.end() == 0, run.errors()
    return ladder(tmp_path), run.output


def ladder(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "ladder.json").read_text())


def test_a_script_is_tuned_by_the_lines_to_change(tmp_path: Path) -> None:
    path = str(tmp_path / "ladder.json")
    run = tune(tmp_path, "--budget", "25", "--json", path, "--keep", str(tmp_path / "kept.json"))
    assert run.end() == 0, run.errors()
    found = ladder(tmp_path)
    assert found["name"] == "train.py"
    assert found["start"]["samples_per_second"] > 0
    for trial in found["trials"]:
        assert trial["edits"], trial
        assert trial["lines"], trial
        assert trial["kept"] in (True, False)
        if trial["id"] == "workers":
            assert trial["lines"][0].startswith("DataLoader(..., num_workers="), trial
        if trial["id"] == "cache":
            after = 'after="transforms[0]", memory="auto"'
            assert trial["lines"] == [f"cachebisect.cached(dataset, {after})"], trial
    kept = [trial for trial in found["trials"] if trial["kept"]]
    for trial in kept:
        assert trial["measured"]["interval"][0] > 0
    assert json.loads((tmp_path / "kept.json").read_text()) == found["pipeline"]
    assert len(found["pipeline"]) == len({trial["id"] for trial in kept})
    assert "num_workers=0" in (tmp_path / "train.py").read_text()
    assert "At the start: " in run.output


def test_a_target_ends_it_after_the_diagnosis(tmp_path: Path) -> None:
    path = str(tmp_path / "ladder.json")
    run = tune(tmp_path, "--budget", "15", "--target", "1", "--json", path)
    assert run.end() == 0, run.errors()
    assert ladder(tmp_path)["end"] == "the target is reached"
    assert ladder(tmp_path)["trials"] == []


def test_a_cache_on_a_disk_is_tried_in_the_folder_that_is_named(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    found, output = tune_waiting(tmp_path, "--budget", "90", "--scratch", str(scratch))
    tried = [trial for trial in found["trials"] if trial["id"] == "cache_disk"]
    assert len(tried) == 1, found["trials"]
    [trial] = tried
    assert Path(trial["folder"]).parent == scratch, trial
    line = f'cachebisect.cached(dataset, after="transforms[0]", disk="{trial["folder"]}", '
    [printed] = trial["lines"]
    assert printed.startswith(line)
    limit = printed[len(line) :].removeprefix('disk_limit="').removesuffix('GB")')
    assert 100_000 * 24 / 1e9 < float(limit) < 1
    assert trial["predicted"]["interval"], trial
    assert trial["measured"]["interval"] or "the budget ended" in trial["fault"], trial
    assert trial["kept"] is not trial["removed"]
    assert (Path(trial["folder"]) / "cache.sqlite").exists() is trial["kept"]
    assert (trial["folder"] in output.replace("\n", "")) is trial["kept"]
    assert found["untried"] == []


UNUSED = """
import torch
from torch.utils.data import DataLoader, Dataset

class Fields(Dataset):
    def __init__(self):
        self.depth = torch.full((250_000,), 0.5)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return {"image": torch.full((20_000,), 1.0), "depth": self.depth}

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    while True:
        for batch in DataLoader(Fields(), batch_size=4, num_workers=1):
            assert batch["depth"].shape == (4, 250_000)
            optimizer.zero_grad()
            model(batch["image"][:, :4]).sum().backward()
            optimizer.step()
"""
"""A batch has 4 MB that no step reads."""


def test_what_no_step_reads_is_left_out_and_kept_out(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(UNUSED, encoding="utf-8")
    path = str(tmp_path / "ladder.json")
    words = [str(COMMAND), "tune", "--hook", str(HOOK), "--no-progress", "--budget", "90"]
    run = Run(tmp_path, [*words, "--json", path, "--", sys.executable, str(script)])
    assert run.end() == 0, run.errors()
    assert "never reads batch['depth']" in run.errors()
    tried = {trial["id"]: trial for trial in ladder(tmp_path)["trials"]}
    if "unused" not in tried:  # On a machine that others keep busy there may be no verdict.
        pytest.skip(ladder(tmp_path)["end"])
    trial = tried["unused"]
    [line] = trial["lines"]
    assert line.startswith("del sample['depth']  # in __getitem__")
    assert trial["edits"][0]["path"] == "/unused"
    assert trial["measured"]["interval"] or trial["fault"], trial
    assert not trial["kept"] or trial["measured"]["interval"][0] > 0, trial
    assert (ladder(tmp_path)["pipeline"].get("unused") == "drop") is trial["kept"]


def test_without_a_folder_the_ladder_says_what_could_be_tried(tmp_path: Path) -> None:
    found, output = tune_waiting(tmp_path, "--budget", "15")
    assert all(trial["id"] != "cache_disk" for trial in found["trials"])
    assert [trial["id"] for trial in found["untried"]] == ["cache_disk"], found
    assert "With --scratch FOLDER it also tries: keep samples in a file after" in output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ladder.json", "stderr", "train.py"]


def test_ctrl_c_ends_the_script_too_and_leaves_no_file(tmp_path: Path) -> None:
    run = tune(tmp_path, "--json", str(tmp_path / "ladder.json"))
    run.await_training()
    assert run.end(interrupted=True) == 130, run.errors()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["stderr", "train.py"]


def test_a_script_that_ends_early_is_an_error_with_its_reason(tmp_path: Path) -> None:
    late = "if rounds == 1: raise ValueError('loss is nan')"
    run = tune(tmp_path, "--json", str(tmp_path / "ladder.json"), late=late)
    assert run.end() == 3, run.errors()
    assert "loss is nan" in run.errors()
    assert not (tmp_path / "ladder.json").exists()


def test_a_pipeline_and_a_command_are_not_tuned_at_once(tmp_path: Path) -> None:
    run = tune(tmp_path, "--pipeline", "cifar.json")
    assert run.end() == 2
    assert "not both" in run.errors()
