"""Checkpoints of measured steps take the place of none of the script's own."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._script.checkpoints import Checkpoints
from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

SAVES = """
number = 0
for epoch in range(2):
    for x in DataLoader(Items(), batch_size=4):
        step(x)
        number += 1
        torch.save({"steps": number}, "{folder}/last.pt")
print("end")
"""


def test_saved_files_are_those_of_steps_that_were_not_measured(tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        first = engine.run(steps=20)
        assert first["steps"] == 20 and first["not_kept"] == [f"{tmp_path}/last.pt"]
        assert engine.run(steps=20)["not_kept"] == []
        engine.ask("finish", then="exit", exit_code=7, text="")

    done = run_script(tmp_path, script, HEAD + SAVES.replace("{folder}", str(tmp_path)))
    assert done.returncode == 7, done.stderr
    last = torch.load(tmp_path / "last.pt")["steps"]
    assert 30 <= last <= 60
    assert f"{tmp_path}/last.pt ({number_of(done.stderr)} times)" in done.stderr


def number_of(text: str) -> int:
    return int(text.partition("last.pt (")[2].partition(" ")[0])


def test_open_files_are_written_as_usual(tmp_path: Any) -> None:
    checkpoints = Checkpoints()
    checkpoints.start()
    with (tmp_path / "open.pt").open("wb") as file:
        torch.save(3, file)
    assert checkpoints.stop() is None
    assert torch.load(tmp_path / "open.pt") == 3


def test_a_file_for_each_name_takes_the_place_of_what_is_saved(
    tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    original = torch.save
    checkpoints = Checkpoints()
    checkpoints.start()
    for _ in range(2):
        torch.save(1, "no/such/folder/a.pt")
    torch.save(2, os.path.join("no", "such", "b.pt"))
    assert len(list(tmp_path.glob("cachebisect-checkpoints-*/*"))) == 2
    words = checkpoints.stop()
    assert words is not None and words.endswith("no/such/folder/a.pt (2 times), no/such/b.pt")
    assert torch.save is original


def test_everything_is_put_back_if_nothing_was_saved() -> None:
    originals = (torch.save, torch.load, os.remove, os.replace, shutil.rmtree)
    checkpoints = Checkpoints()
    checkpoints.start()
    assert torch.load is not originals[1]
    assert checkpoints.stop() is None
    assert (torch.save, torch.load, os.remove, os.replace, shutil.rmtree) == originals


BEST = """
best = "{folder}/best.pt"
for x in DataLoader(Items(), batch_size=4):
    step(x)
    torch.save({"steps": 1}, best)
    assert torch.load(best) == {"steps": 1}
torch.save({"steps": 2}, "{folder}/tmp")
os.replace("{folder}/tmp", "{folder}/last.pt")
assert torch.load("{folder}/last.pt") == {"steps": 2}
print("end")
"""


def test_a_script_loads_what_it_saved_in_its_measured_epoch(
    tmp_path: Any, monkeypatch: Any
) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.run(steps=20)
        engine.ask("finish", then="continue", exit_code=0, text="")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    data = tmp_path / "data"
    data.mkdir()
    head = "import os\n" + HEAD
    done = run_script(tmp_path, script, head + BEST.replace("{folder}", str(data)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("end\n")
    assert not list(tmp_path.glob("cachebisect-checkpoints-*"))


def test_what_was_saved_is_found_until_its_place_is_taken(tmp_path: Any) -> None:
    checkpoints = Checkpoints()
    original = torch.load
    checkpoints.start()
    best, last = str(tmp_path / "best.pt"), str(tmp_path / "last.pt")
    torch.save("before", best)
    torch.save("measured", last)
    assert torch.load(f=best) == "before"
    torch.save("gone", str(tmp_path / "other.tmp"))
    os.replace(tmp_path / "other.tmp", tmp_path / "other.pt")
    assert torch.load(tmp_path / "other.pt") == "gone"
    os.remove(tmp_path / "other.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "other.pt")
    checkpoints.stop()
    assert torch.load(best) == "before" and torch.load(last) == "measured"
    torch.save("after", best)
    assert torch.load(best) == "after"
    torch.load = original


def test_lightning_loads_what_it_saved(tmp_path: Any) -> None:
    io = pytest.importorskip("lightning.fabric.plugins.io.torch_io")
    saving = pytest.importorskip("lightning.pytorch.core.saving")
    path = tmp_path / "version_0" / "best.ckpt"
    checkpoints = Checkpoints()
    original = torch.load
    checkpoints.start()
    plugin = io.TorchCheckpointIO()
    plugin.save_checkpoint({"epoch": 1}, path)
    assert plugin.load_checkpoint(path) == {"epoch": 1}
    assert saving.pl_load(path, weights_only=True) == {"epoch": 1}
    plugin.remove_checkpoint(path)
    with pytest.raises(FileNotFoundError):
        plugin.load_checkpoint(path)
    plugin.save_checkpoint(checkpoint={"epoch": 2}, path=str(path))
    assert "best.ckpt (2 times)" in str(checkpoints.stop())
    assert plugin.load_checkpoint(str(path)) == {"epoch": 2}
    assert not path.exists()
    torch.load = original


def test_a_lack_of_room_does_not_end_the_script(monkeypatch: Any) -> None:
    def full(*_args: Any, **_options: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    checkpoints = Checkpoints()
    checkpoints.start()
    torch.save(1, "last.pt")
    assert "last.pt" in str(checkpoints.stop())


def test_checkpoints_of_frameworks_are_left_out(monkeypatch: Any) -> None:
    written: list[Any] = []
    read: list[Any] = []

    class Accelerator:
        def save_state(self, folder: str) -> str:
            written.append(folder)
            return folder

        def load_state(self, folder: str) -> None:
            read.append(folder)

    class Module:
        pass

    module: Any = Module()
    module.Accelerator = Accelerator
    monkeypatch.setitem(__import__("sys").modules, "accelerate.accelerator", module)
    checkpoints = Checkpoints()
    checkpoints.start()
    assert Accelerator().save_state("folder") == "folder" and written == []
    assert Accelerator().save_state(folder="other") == "other" and written == []
    Accelerator().load_state("other")
    Accelerator().load_state(folder="before")
    assert read == ["before"]
    assert str(checkpoints.stop()).endswith("Accelerator.save_state (2 times)")
    Accelerator().save_state("folder")
    assert written == ["folder"]


def test_a_file_that_is_moved_into_place_and_the_one_that_goes_for_it(tmp_path: Any) -> None:
    """As timm's recovery and a script that keeps the last checkpoint."""
    old, other = tmp_path / "old.pt", tmp_path / "notes.txt"
    folder = tmp_path / "checkpoint-1"
    folder.mkdir()
    for path in (old, other, folder / "model.safetensors"):
        path.write_text("kept")
    checkpoints = Checkpoints()
    checkpoints.start()
    torch.save(obj=3, f=str(tmp_path / "new.tmp"))
    os.replace(str(tmp_path / "new.tmp"), str(tmp_path / "new.pt"))
    os.remove(old)
    shutil.rmtree(folder)
    os.remove(other)
    words = checkpoints.stop()
    assert words is not None and f"removal of {old}" in words
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"old.pt", "checkpoint-1"}
    os.remove(old)
    assert not old.exists()


def test_workers_that_are_forked_meanwhile_remove_what_they_like(tmp_path: Any) -> None:
    file = tmp_path / "shard.pt"
    file.write_text("data")
    checkpoints = Checkpoints()
    checkpoints.start()
    worker = multiprocessing.get_context("fork").Process(target=os.remove, args=(file,))
    worker.start()
    worker.join()
    assert checkpoints.stop() is None
    assert worker.exitcode == 0 and not file.exists()
