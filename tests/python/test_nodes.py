"""`run --nodes` and `join` around torchrun: two machines, both of which are this one."""

from __future__ import annotations

import re
import socket
import sys
import time
from pathlib import Path

import pytest

from commands import COMMAND, HOOK, POLLS, ROOT, Run, needs_command

pytest.importorskip("torch")
pytestmark = needs_command

EXAMPLE = str(ROOT / "examples" / "python" / "torchrun_ddp.py")
TOKEN = "0123456789abcdef0123456789abcdef"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def torchrun(node: int, port: int, *arguments: str) -> list[str]:
    words = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2"]
    words += ["--node-rank", str(node), "--nproc-per-node", "1"]
    words += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
    return [*words, EXAMPLE, *arguments]


class TwoNodes:
    def __init__(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int, *script: str
    ) -> None:
        monkeypatch.setenv("CACHEBISECT_TOKEN", TOKEN)
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        port = free_port()
        self.folders = [tmp_path / "a", tmp_path / "b"]
        for folder in self.folders:
            folder.mkdir()
        options = ["run", "--hook", str(HOOK), "--out", str(self.folders[0]), "--no-progress"]
        options += ["--nodes", "2", "--address", "127.0.0.1", "--port", "0", "--name", "a"]
        options += ["--budget", str(budget), "--sustain", "0", "--log-level", "debug"]
        train = torchrun(0, port, *script)
        self.first = Run(self.folders[0], [str(COMMAND), *options, "--", *train])
        join = ["join", self.address(), "--hook", str(HOOK), "--name", "b"]
        train = torchrun(1, port, *script)
        self.second = Run(self.folders[1], [str(COMMAND), *join, "--", *train])

    def address(self) -> str:
        """Where the first one listens."""
        for _ in range(POLLS):
            found = re.search(r"cachebisect join (\S+)", self.first.errors())
            if found:
                return found.group(1)
            time.sleep(0.05)
        raise AssertionError(self.first.errors())

    def await_blocks(self) -> None:
        for _ in range(POLLS):
            if "round" in self.first.errors() or self.first.process.poll() is not None:
                break
            time.sleep(0.05)


def test_ranks_of_two_machines_are_measured_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = TwoNodes(tmp_path, monkeypatch, 10, "--stall", "1", "--seconds", "0.05")
    code = nodes.first.end()
    assert nodes.second.end() == code == 0, nodes.first.errors() + nodes.second.errors()
    report = nodes.first.report()
    assert report is not None
    assert report["pipeline"]["ranks"] == 2
    assert report["pipeline"]["nodes"] == [
        {"name": "a", "first_rank": 0, "ranks": 1},
        {"name": "b", "first_rank": 1, "ranks": 1},
    ]
    assert report["blocks"]
    (other,) = report["machine"]["other_nodes"]
    assert other["name"] == "b"
    assert other["usable_cpus"] > 0


def test_ctrl_c_at_the_first_ends_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = TwoNodes(tmp_path, monkeypatch, 200, "--epochs", "100000")
    nodes.await_blocks()
    code = nodes.first.end(interrupted=True)
    assert code == 130, nodes.first.errors()
    assert nodes.second.end() == 130, nodes.second.errors()


def test_ctrl_c_at_the_other_ends_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = TwoNodes(tmp_path, monkeypatch, 200, "--epochs", "100000")
    nodes.await_blocks()
    assert nodes.second.end(interrupted=True) == 130, nodes.second.errors()
    assert nodes.first.end() == 3, nodes.first.errors()
    assert "node b, rank 1" in nodes.first.errors()
