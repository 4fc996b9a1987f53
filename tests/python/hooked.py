"""Scripts in a process of their own with the hook on its path, measured by a test engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine import TestEngine

HERE = Path(__file__).resolve().parent
HOOK = HERE.parents[1] / "python" / "cachebisect" / "_hook"

SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Items, Member

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    method = {method!r}
    train = DataLoader(Items(Compose([Member(100)]), 128), batch_size=4,
                       num_workers={workers}, multiprocessing_context=method)
    validation = DataLoader(Items(length=16), batch_size=4)
    for epoch in range({epochs}):
        for step, (x, _) in enumerate(train):
            assert x.shape == (4, 4) and x.min() >= 100
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            if step == {validate_at}:
                with torch.no_grad():
                    assert sum(1 for _ in validation) == 4
        print("epoch", epoch, flush=True)
    print("end", flush=True)
"""


def run_script(
    tmp_path: Any, script: Any, text: str, loader: Any = None
) -> subprocess.CompletedProcess[str]:
    """Runs `text` as a script whose first connection is answered by `script(engine)`."""
    path = tmp_path / "train.py"
    path.write_text(text)
    return run_file(tmp_path, script, path, loader)


def run_file(
    tmp_path: Any, script: Any, path: Path, loader: Any = None
) -> subprocess.CompletedProcess[str]:
    """Runs the script in `path`, whose first connection is answered by `script(engine)`."""
    engine = TestEngine(str(tmp_path / "socket"), script)
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "socket")
    if loader is not None:
        environment["CACHEBISECT_LOADER"] = str(loader)
    done = subprocess.run(
        [sys.executable, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    print(done.stderr)  # Shown if the test fails.
    engine.join()
    return done


def script_text(
    workers: int = 0, method: Any = None, epochs: int = 4, validate_at: int = -1
) -> str:
    return SCRIPT.format(
        here=str(HERE), workers=workers, method=method, epochs=epochs, validate_at=validate_at
    )


COUNTING = """
import sys
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader
from loaders import Compose, Items, Member

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    train = DataLoader(Items(Compose([Member(100)]), 128), batch_size=4)
    other = DataLoader(Items(length=16), batch_size=4)
    for epoch in range(20):
        batches = iter(train)
        for _ in range(len(train)):
            x, _ = next(batches)
            if {other_in_steps}:
                next(iter(other))
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    print("end", flush=True)
"""
