"""Scripts in a process of their own with the hook on its path, measured by a test engine."""

from __future__ import annotations

import json
import os
import select
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


STEP = """
import torch
from torch.utils.data import DataLoader, Dataset

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)

def step(x):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""
"""Begins scripts whose loops call `step`."""


def run_script(
    tmp_path: Any, script: Any, text: str, loader: Any = None, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """Runs `text` as a script whose first connection is answered by `script(engine)`.

    `fresh`: in a Python process that begins with it, and not in a fork of one that has torch.
    """
    path = tmp_path / "train.py"
    path.write_text(text)
    return run_file(tmp_path, script, path, loader, fresh)


def run_file(
    tmp_path: Path, script: Any, path: Path, loader: Any = None, fresh: bool = True
) -> subprocess.CompletedProcess[str]:
    """Runs the script in `path`, whose first connection is answered by `script(engine)`."""
    engine = TestEngine(str(tmp_path / "socket"), script)
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "socket")
    if loader is not None:
        environment["CACHEBISECT_LOADER"] = str(loader)
    done = run_hooked(path, environment, tmp_path, fresh)
    engine.join()
    return done


def run_hooked(
    path: Path, environment: dict[str, str], folder: Path, fresh: bool
) -> subprocess.CompletedProcess[str]:
    """Runs the script in `path` with the hook. `fresh`: as in run_script()."""
    if fresh:
        done = subprocess.run(
            [sys.executable, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
    else:
        done = run_in_fork(path, environment, folder)
    print(done.stderr)  # Shown if the test fails.
    return done


TIMEOUT = 300.0
_servers: list[subprocess.Popen[str]] = []
"""At most one in each process of pytest; it ends with it."""


def run_in_fork(
    path: Path, environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """The same by script_server.py."""
    if not _servers:
        command = [sys.executable, str(HERE / "script_server.py")]
        _servers.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
    server = _servers[0]
    assert server.stdin is not None and server.stdout is not None
    out, err = folder / "script.out", folder / "script.err"
    request = {"path": str(path), "hook": str(HOOK), "environment": environment}
    server.stdin.write(json.dumps({**request, "out": str(out), "err": str(err)}) + "\n")
    server.stdin.flush()
    if not select.select([server.stdout], [], [], TIMEOUT)[0]:
        _servers.clear()
        server.kill()
        raise TimeoutError(f"{path} has not ended: {err.read_text()}")
    code = int(server.stdout.readline())
    return subprocess.CompletedProcess([str(path)], code, out.read_text(), err.read_text())


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
