"""Ctrl-C in any phase leaves no process. The pauses choose the phase; the outcome is the same."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import HERE, ROOT, SCRIPT, Run, needs_command, run_script

pytestmark = needs_command

ENDLESS = ("--budget", "600", "--sustain", "300")
"""No run ends by itself before it is interrupted."""

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
    report = cachebisect.bisect(loader, lambda batch: batch[0].sum(), progress=False,
                                options={ENDLESS!r})
    print("interrupted" if report.interrupted else "whole")
"""


WHERE = [(0, None), (2, "fork"), (1, "spawn"), (1, "forkserver")]
PAUSES = [0.0, 0.5, 2.0, 4.0]
IN_CI = [(0.5, *WHERE[0]), (2.0, *WHERE[1]), (4.0, *WHERE[2]), (0.0, *WHERE[3])]
"""Each kind of worker and each pause once; all pairs run nightly."""
CASES = [(pause, *where) for where in WHERE for pause in PAUSES]


@pytest.mark.parametrize(
    "seconds,workers,method",
    [case if case in IN_CI else pytest.param(*case, marks=pytest.mark.nightly) for case in CASES],
)
def test_ctrl_c_in_a_run_leaves_no_process(
    seconds: float, workers: int, method: Any, tmp_path: Path
) -> None:
    run = run_script(tmp_path, SCRIPT, workers, method, options=ENDLESS)
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
    assert run.output == "interrupted\n" or "KeyboardInterrupt" in run.errors()
