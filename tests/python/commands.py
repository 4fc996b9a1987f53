"""Whole runs of the built command, of which no process may be left.

The command is $CACHEBISECT_BINARY, or build/release/bin/cachebisect.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
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

needs_command = pytest.mark.skipif(
    not os.access(COMMAND, os.X_OK), reason="the command is not built"
)


def needs_installed(*packages: str) -> Any:
    """For what other processes import: each process of the tests would take seconds for it."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def torchrun(ranks: int, *script: str) -> list[str]:
    """Ranks of this machine, on a free port: torchrun's usual one serves one job at a time."""
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return [*words, "--nproc-per-node", str(ranks), *script]


MARK = "CACHEBISECT_TEST_RUN"
POLLS = 1200
"""Number of polls of 0.05 s and more each: what processes may take to end, on any machine."""

SCRIPT = f"""
import os, sys, time
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Descent, Items, Member

if __name__ == "__main__":
    from cachebisect._job.job import Job  # The hook has loaded it.

    rounds, begin_round = 0, Job.begin_round

    def counted(job):
        global rounds
        rounds += 1
        begin_round(job)

    Job.begin_round = counted
    model = torch.nn.Linear(4, 1)
    optimizer = Descent(model.parameters(), 1e-6)
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
"""LATE runs after each step; `rounds` counts the rounds of blocks that the engine has begun."""

PARTIAL_ROUNDS = 3
"""When this round begins, there is a report so far, and no verdict yet."""


def _heed_ctrl_c() -> None:
    """A shell starts its background jobs with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Run:
    """A command in a process group of its own. What it starts is found by its environment."""

    def __init__(self, tmp_path: Path, words: list[str]) -> None:
        self.mark = str(uuid.uuid4())
        self.out = tmp_path
        self.output = ""
        """On stdout, once it has ended."""
        environment = {**os.environ, MARK: self.mark, "CACHEBISECT_BINARY": str(COMMAND)}
        self._errors = (tmp_path / "stderr").open("w")
        self.process = subprocess.Popen(
            words,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
            preexec_fn=_heed_ctrl_c,
        )

    def await_training(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "training\n", self.errors()

    def end(self, interrupted: bool = False) -> int:
        """The exit code; no process is left."""
        try:
            if interrupted:
                os.killpg(self.process.pid, signal.SIGINT)
            self.output += self.process.communicate(timeout=240)[0]
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
        """What still runs after POLLS."""
        left: list[int] = []
        for _ in range(POLLS):
            left = [int(p.name) for p in Path("/proc").glob("[0-9]*") if self._is_ours(p)]
            if not left:
                break
            time.sleep(0.05)
        return left

    def _is_ours(self, process: Path) -> bool:
        try:
            return self.mark.encode() in (process / "environ").read_bytes()
        except OSError:
            return False


def bisect_with_libtorch(
    folder: Path, pipeline: str, budget: int
) -> subprocess.CompletedProcess[str]:
    """Bisects a pipeline file of `folder` on the CPU in `budget` seconds; skips the test if the
    command has no LibTorch."""
    words = [str(COMMAND), "--pipeline", pipeline, "--device", "cpu", "--workers", "1"]
    done = subprocess.run(
        [*words, "--budget", str(budget), "--no-progress"],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(ROOT / "build" / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "needs the LibTorch module" in done.stderr:
        pytest.skip("the command is built without LibTorch")
    return done


def run_script(
    tmp_path: Path,
    text: str,
    workers: int = 0,
    method: Any = None,
    late: str = "pass",
    name: str = "train.py",
    options: Sequence[str] = ("--budget", "30", "--sustain", "0"),
) -> Run:
    path = tmp_path / name
    for word, value in (("WORKERS", workers), ("METHOD", repr(method)), ("LATE", late)):
        text = text.replace(word, str(value))
    path.write_text(text, encoding="utf-8")
    words = [str(COMMAND), "run", "--hook", str(HOOK), "--out", str(tmp_path), "--no-progress"]
    return Run(tmp_path, [*words, *options, "--", sys.executable, str(path)])
