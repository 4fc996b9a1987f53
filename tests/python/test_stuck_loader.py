"""A loader that is stuck: `stop` interrupts the wait for its batch."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from torch.utils.data import DataLoader

from commands import COMMAND, HERE, run_script
from engine import TestEngine
from loaders import Items
from measured import measure

STUCK_SECONDS = 1e6
"""A test that ends at all has shown that the wait was interrupted."""

STUCK = f"""
import os, sys, time
sys.path.insert(0, {str(HERE)!r})
import torch
from torch.utils.data import DataLoader
from loaders import Descent, Items

class Stuck(Items):
    calls = 0

    def __getitem__(self, index):
        Stuck.calls += 1
        if Stuck.calls == CALLS:
            print("stuck", flush=True)
            time.sleep(STUCK_SECONDS)
        return super().__getitem__(index)

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = Descent(model.parameters(), 1e-6)
    loader = DataLoader(Stuck(length=100000), batch_size=4, num_workers=WORKERS)
    print("training", flush=True)
    for x, _ in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason="the command is not built")
@pytest.mark.parametrize("workers,calls", [(2, 40), (0, 1000), (2, 1000)])
def test_ctrl_c_while_the_loader_is_stuck(workers: int, calls: int, tmp_path: Path) -> None:
    """From the start, or after the chain is known."""
    text = STUCK.replace("CALLS", str(calls)).replace("STUCK_SECONDS", str(STUCK_SECONDS))
    run = run_script(tmp_path, text, workers)
    run.await_training()
    assert run.process.stdout is not None
    assert run.process.stdout.readline() == "stuck\n", run.errors()
    time.sleep(0.5)
    assert run.end(interrupted=True) == 130, run.errors()
    report = run.report()
    if calls == 1000:
        assert report is not None and report["interrupted"]
        assert "Traceback" not in run.errors()


class StuckAt(Items):
    """Sleeps in its n-th call, and catches every error as careful datasets do."""

    def __init__(self, number: int, event: Any = None) -> None:
        super().__init__(length=100000)
        self.number = number
        self.event = event
        self.calls = 0

    def __getitem__(self, index: int) -> Any:
        self.calls += 1
        try:
            if self.calls == self.number:
                if self.event is not None:
                    self.event.set()
                time.sleep(STUCK_SECONDS)
        except Exception:
            return self[index + 1]
        return super().__getitem__(index)


@pytest.mark.parametrize("workers,call", [(0, 2), (0, 400), (1, 400)])
def test_stop_is_answered_while_the_loader_is_stuck(
    workers: int, call: int, tmp_path: Path
) -> None:
    """In the steps before the measurement, and in a block."""
    stuck = multiprocessing.Event()

    def script(engine: TestEngine) -> None:
        engine.ask("hello", protocol=1, engine="test")
        engine.send("describe")
        if call == 400:
            assert engine.answer()["type"] == "describe"
            arm = {"kind": "replay", "boundary": 0}
            engine.send("run", arm=arm, steps=400, warmup_steps=0, seed=1)
        assert stuck.wait(60)
        answer = engine.stop()
        assert answer["type"] == "error" and answer["kind"] == "interrupted", answer
        engine.finish()

    measure(DataLoader(StuckAt(call, stuck), batch_size=4, num_workers=workers), script, tmp_path)
    assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL
