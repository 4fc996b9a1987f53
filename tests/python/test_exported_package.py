"""A step that is the forward pass of a model that AOTInductor compiled. Needs a compiler."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import bisect_with_libtorch, needs_command

pytestmark = [
    needs_command,
    pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor needs a compiler"),
]

COMPILE = """
import sys, torch
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10)).eval()
program = torch.export.export(model, (torch.zeros(64, 3, 32, 32),))
torch.export.save(program, sys.argv[1] + "/program.pt2")
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1] + "/model.pt2")
"""


@pytest.fixture
def folder(package: Path, tmp_path: Path) -> Path:
    """A folder of this test alone, with what `package` has."""
    for name in ("model.pt2", "program.pt2"):
        shutil.copy(package / name, tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With model.pt2, compiled for batches of 64 images of 32 x 32, and program.pt2, which is not
    compiled. Processes of pytest-xdist share it: compiling takes a minute of CPU time."""
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "package"
    made.mkdir(exist_ok=True)
    with (made / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made / "model.pt2").exists():
            done = subprocess.run(
                [sys.executable, "-c", COMPILE, str(made)],
                capture_output=True, text=True, timeout=900,
            )  # fmt: skip
            if "no attribute 'aoti_compile_and_package'" in done.stderr:
                pytest.skip("this torch is older than packages of AOTInductor")
            assert done.returncode == 0, done.stderr
    return made


def run(
    folder: Path, module: str, train: dict[str, Any], batch: int = 64
) -> subprocess.CompletedProcess[str]:
    """Bisects a CIFAR chain whose step is `module`."""
    stages: list[dict[str, Any]] = [
        {"use": "read.cifar10", "path": "${cache}/cifar-10", "if_missing": "generate"},
        {"use": "decode.cifar"},
        {"use": "augment.to_float"},
        {"use": "collate.stack", "layout": "NCHW"},
        {"use": "copy.device"},
    ]
    spec = {"batch_size": batch, "stages": stages, "train": {"module": module, **train}}
    (folder / "own.json").write_text(json.dumps(spec))
    return bisect_with_libtorch(folder, "own.json", budget=3)


def test_the_forward_pass_of_a_package_is_the_step(folder: Path) -> None:
    done = run(folder, "model.pt2", {})
    assert done.returncode == 0, done.stderr
    heading = " ".join(done.stdout.split())
    assert "step: model.pt2 (exported package, forward pass alone), cross_entropy" in heading


def test_a_batch_of_another_shape_is_refused_before_anything_runs(folder: Path) -> None:
    done = run(folder, "model.pt2", {}, batch=32)
    assert done.returncode == 2
    assert "does not take what the chain gives, image float32 [32, 3, 32, 32]" in done.stderr


@pytest.mark.parametrize("setting", [{"precision": "bf16-mixed"}, {"accumulate": 2}])
def test_settings_of_training_are_refused(folder: Path, setting: dict[str, Any]) -> None:
    done = run(folder, "model.pt2", setting)
    assert done.returncode == 2
    assert f"train.{next(iter(setting))}" in done.stderr
    assert "forward pass alone" in done.stderr


def test_a_program_that_is_not_compiled_is_refused(folder: Path) -> None:
    done = run(folder, "program.pt2", {})
    assert done.returncode == 2
    assert "not compiled; compile it with torch._inductor.aoti_compile_and_package" in done.stderr


def test_a_package_for_another_device_is_refused(folder: Path) -> None:
    change(folder, "cuda.pt2", lambda name, data: data.replace(b'"cpu"', b'"cuda"'))
    done = run(folder, "cuda.pt2", {})
    assert done.returncode == 2
    assert "was compiled for cuda, and the step runs on cpu" in done.stderr


def test_a_package_of_another_libtorch_is_refused(folder: Path) -> None:
    change(folder, "broken.pt2", lambda name, data: b"x" * 64 if name.endswith(".so") else data)
    done = run(folder, "broken.pt2", {})
    assert done.returncode == 2
    assert "cannot be read by LibTorch" in done.stderr
    assert "CACHEBISECT_TORCH_DIR" in done.stderr


def change(folder: Path, name: str, edit: Any) -> None:
    """Copies model.pt2 with edited records; the folder in the archive bears the file's name."""
    stem = Path(name).stem
    with zipfile.ZipFile(folder / "model.pt2") as old, zipfile.ZipFile(folder / name, "w") as new:
        for record in old.namelist():
            data = old.read(record)
            edited = edit(record, data) if record.endswith((".json", ".so")) else data
            new.writestr(record.replace("model/", f"{stem}/", 1), edited)
