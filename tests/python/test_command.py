"""Whole runs of the built command: what a script does to itself, and what Ctrl-C leaves behind.

Needs the command: $CACHEBISECT_BINARY, or build/release/bin/cachebisect.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Optional

import pytest

pytest.importorskip("torch")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMMAND = Path(
    os.environ.get("CACHEBISECT_BINARY") or ROOT / "build" / "release" / "bin" / "cachebisect"
)
HOOK = ROOT / "python" / "cachebisect" / "_hook"

pytestmark = pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason="the command is not built")

MARK = "CACHEBISECT_TEST_RUN"
END_SECONDS = 60.0

SCRIPT = f"""
import os, sys, time
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Items, Member

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    loader = DataLoader(Items(Compose([Member(1, 0.002)]), 400), batch_size=4,
                        num_workers=WORKERS, multiprocessing_context=METHOD)
    steps = 0
    while True:
        for x, _ in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            steps += 1
            LATE
            if steps == 10:
                print("training", flush=True)
"""

LIBRARY = f"""
import sys
sys.path[:0] = [{str(ROOT / "python")!r}, {str(HERE)!r}]
import torch
from torch.utils.data import DataLoader
import cachebisect
from loaders import Compose, Items, Member

if __name__ == "__main__":
    loader = DataLoader(Items(Compose([Member(1, 0.002)]), 400), batch_size=4, num_workers=2)
    print("training", flush=True)
    report = cachebisect.bisect(loader, lambda batch: batch[0].sum(), progress=False)
    print("interrupted" if report.interrupted else "whole")
"""


class Run:
    """A command in a process group of its own; `left()` counts what it has started."""

    def __init__(self, tmp_path: Path, words: list[str]) -> None:
        self.mark = str(uuid.uuid4())
        self.out = tmp_path
        environment = {**os.environ, MARK: self.mark, "CACHEBISECT_BINARY": str(COMMAND)}
        self._errors = (tmp_path / "stderr").open("w")
        self.process = subprocess.Popen(
            words,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )

    def await_training(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "training\n", self.errors()

    def end(self, interrupted: bool = False) -> int:
        """The exit code; no process is left."""
        try:
            if interrupted:
                os.killpg(self.process.pid, signal.SIGINT)
            self.process.communicate(timeout=240)
        finally:
            self._errors.close()
            left = self._left()
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        assert left == [], self.errors()
        return self.process.returncode

    def errors(self) -> str:
        return (self.out / "stderr").read_text()

    def report(self) -> Optional[Any]:
        path = self.out / "report.json"
        return json.loads(path.read_text()) if path.exists() else None

    def _left(self) -> list[int]:
        deadline = time.monotonic() + END_SECONDS
        while True:
            left = [int(p.name) for p in Path("/proc").glob("[0-9]*") if self._is_ours(p)]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    def _is_ours(self, process: Path) -> bool:
        try:
            return self.mark.encode() in (process / "environ").read_bytes()
        except OSError:
            return False


def run_script(
    tmp_path: Path, text: str, workers: int = 0, method: Any = None, late: str = "pass"
) -> Run:
    path = tmp_path / "train.py"
    for name, value in (("WORKERS", workers), ("METHOD", repr(method)), ("LATE", late)):
        text = text.replace(name, str(value))
    path.write_text(text)
    options = ["--budget", "30", "--sustain", "0", "--no-progress", "--out", str(tmp_path)]
    words = [str(COMMAND), "run", "--hook", str(HOOK), *options]
    return Run(tmp_path, [*words, "--", sys.executable, str(path)])


def test_a_script_without_a_loader_is_exit_2(tmp_path: Path) -> None:
    run = run_script(tmp_path, "import torch.utils.data")
    began = time.monotonic()
    assert run.end() == 2
    assert "seen: train.py" in run.errors() and time.monotonic() - began < 30 + END_SECONDS
    assert run.report() is None


def test_a_loader_that_does_not_exist_is_exit_2(tmp_path: Path) -> None:
    text = SCRIPT.replace("while True", "for _ in range(1)")
    run = run_script(tmp_path, text)
    run.process.kill()
    run.end()
    path = tmp_path / "train.py"
    words = [str(COMMAND), "run", "--hook", str(HOOK), "--loader", "2", "--no-progress"]
    chosen = Run(tmp_path, [*words, "--", sys.executable, str(path)])
    assert chosen.end() == 2
    assert "Loaders seen: 1: DataLoader(Items, batch_size=4" in chosen.errors()


@pytest.mark.parametrize(
    "late,code",
    [
        ("if steps == 1500: sys.exit(5)", 3),
        ("if steps == 1500: os._exit(0)", 3),
        ("if steps == 1500: os.execv('/bin/true', ['true'])", 3),
        ("if steps == 1500: os.kill(os.getpid(), 9)", 3),
        ("if steps == 1500: raise ValueError('loss is nan')", 3),
    ],
)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_script_that_ends_while_it_is_measured(
    late: str, code: int, workers: int, tmp_path: Path
) -> None:
    """The report so far is written, and the script's own last words are seen."""
    run = run_script(tmp_path, SCRIPT, workers, late=late)
    assert run.end() == code, run.errors()
    report = run.report()
    assert report is not None and report["interrupted"]
    if "raise" in late:
        assert "ValueError: loss is nan" in run.errors()


@pytest.mark.parametrize(
    "fault,says",
    [
        ("raise ValueError('bad sample')", "bad sample"),
        ("os.kill(os.getpid(), 9)", "killed|exited"),
    ],
)
def test_a_worker_that_fails_while_it_is_measured(fault: str, says: str, tmp_path: Path) -> None:
    """The first 60 steps read 240 of the 400 samples; blocks read on from the first one."""
    failing = f"""
class Failing(Items):
    def __getitem__(self, index):
        if index >= 300:
            {fault}
        return super().__getitem__(index)

if __name__"""
    text = SCRIPT.replace("if __name__", failing, 1).replace(
        "DataLoader(Items", "DataLoader(Failing"
    )
    run = run_script(tmp_path, text, 2)
    assert run.end() == 3, run.errors()
    assert re.search(says, run.errors())


def test_a_script_that_starts_itself_again_is_measured(tmp_path: Path) -> None:
    again = "import os, sys\nif 'AGAIN' not in os.environ:\n    os.environ['AGAIN'] = '1'\n"
    again += "    os.execv(sys.executable, [sys.executable, *sys.argv])\n"
    run = run_script(tmp_path, again + SCRIPT, 1)
    assert run.end() == 0, run.errors()
    assert run.report() is not None


WHERE = [(0, None), (2, "fork"), (1, "spawn"), (1, "forkserver")]


@pytest.mark.parametrize("seconds", [0.0, 0.5, 2.0, 4.0])
@pytest.mark.parametrize("workers,method", WHERE)
def test_ctrl_c_in_a_run_leaves_no_process(
    seconds: float, workers: int, method: Any, tmp_path: Path
) -> None:
    run = run_script(tmp_path, SCRIPT, workers, method)
    run.await_training()
    time.sleep(seconds)
    assert run.end(interrupted=True) == 130, run.errors()


@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.0])
def test_ctrl_c_in_the_library_call_leaves_no_process(seconds: float, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(LIBRARY)
    run = Run(tmp_path, [sys.executable, str(path)])
    run.await_training()
    time.sleep(seconds)
    run.end(interrupted=True)
