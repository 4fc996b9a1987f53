"""Jobs that Ray Train starts. fake_ray.py stands in for Ray."""

from __future__ import annotations

import os
import socket
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import cachebisect
from cachebisect._ray import loop as ray_loop_module
from cachebisect._ray import node as ray_node

HERE = Path(__file__).resolve().parent
TOKEN = "0123456789abcdef0123456789abcdef"
DRIVER = f"""
import sys
sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1] / "python")!r}, EXAMPLES]
import cloudpickle, fake_ray, torchrun_ddp
import cachebisect

cloudpickle.register_pickle_by_value(torchrun_ddp)

def train(config):
    sys.argv = ["train", "--stall", "1", "--seconds", "0.02", "--epochs", "100000"]
    torchrun_ddp.dist.init_process_group = lambda backend: None  # Ray has done it.
    torchrun_ddp.main()

measured = cachebisect.ray_loop(train, engine=ENGINE, token={TOKEN!r})
assert measured is not train and measured.__name__ == "train"
codes = fake_ray.TorchTrainer(measured, NODES, LOCAL_RANKS, PORT).fit()
print("codes", codes, flush=True)
sys.exit(max(codes))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("nodes", [["", ""], ["", "b"]])
def test_workers_of_ray_are_measured(
    nodes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("cloudpickle")
    from commands import COMMAND, HOOK, ROOT, Run

    if not os.access(COMMAND, os.X_OK):
        pytest.skip("the command is not built")
    monkeypatch.setenv("CACHEBISECT_TOKEN", TOKEN)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    port, several = free_port(), nodes == ["", "b"]
    values = {
        "EXAMPLES": str(ROOT / "examples" / "python"),
        "ENGINE": f"127.0.0.1:{port}",
        "NODES": nodes,
        "LOCAL_RANKS": [0, 0] if several else [0, 1],
        "PORT": free_port(),
    }
    text = DRIVER
    for name, value in values.items():
        text = text.replace(name, repr(value))
    (tmp_path / "driver.py").write_text(text)
    options = ["run", "--hook", str(HOOK), "--out", str(tmp_path), "--no-progress"]
    options += ["--budget", "10", "--sustain", "0"]
    if several:
        options += ["--nodes", "2", "--address", "127.0.0.1", "--port", str(port), "--name", "a"]
        options += ["--join-timeout", "240"]
    run = Run(tmp_path, [str(COMMAND), *options, "--", sys.executable, str(tmp_path / "driver.py")])
    assert run.end() == 0, run.errors()
    report = run.report()
    assert report is not None and report["pipeline"]["ranks"] == 2, run.errors()
    assert report["blocks"]
    names = [node["name"] for node in report["pipeline"]["nodes"]]
    assert names == (["a", "b"] if several else []), run.errors()


def loop(config: Any) -> str:
    return f"trained {config}"


def test_outside_of_a_run_the_loop_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CACHEBISECT_SOCKET", raising=False)
    assert cachebisect.ray_loop(loop) is loop


@pytest.fixture
def in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process of a run whose socket is gone."""
    monkeypatch.setenv("CACHEBISECT_SOCKET", str(tmp_path / "socket"))
    monkeypatch.setenv("CACHEBISECT_TOKEN", "")
    monkeypatch.delattr(sys, "_cachebisect_has_started", raising=False)
    monkeypatch.setattr(ray_node.tempfile, "tempdir", str(tmp_path))
    train = types.ModuleType("ray.train")
    train.get_context = lambda: types.SimpleNamespace(get_local_rank=lambda: 0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    monkeypatch.setitem(sys.modules, "ray.train", train)
    return tmp_path


def test_a_worker_that_cannot_be_measured_trains(in_a_run: Path, capsys: Any) -> None:
    measured = cachebisect.ray_loop(loop)
    assert "CACHEBISECT_SOCKET" not in os.environ  # Of what Ray starts after it.
    assert measured(3) == "trained 3"
    assert "another machine than `cachebisect run`" in capsys.readouterr().err


def test_a_relay_that_does_not_join_is_said(
    in_a_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", "/bin/false")
    assert cachebisect.ray_loop(loop, engine="head:1", token=TOKEN)(4) == "trained 4"
    assert "`cachebisect join head:1` of this node has not joined" in capsys.readouterr().err
    assert [path.name for path in in_a_run.iterdir()] == []


def test_ray_that_was_started_before_is_said(
    in_a_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    measured = cachebisect.ray_loop(loop, engine="head:1")
    monkeypatch.setenv("CACHEBISECT_SOCKET", "inherited")
    monkeypatch.setattr(sys, "_cachebisect_has_started", True, raising=False)
    assert measured(5) == "trained 5"
    assert "Ray was started before" in capsys.readouterr().err


def test_the_end_of_a_measured_loop_is_no_death(
    in_a_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(code: int) -> None:
        raise SystemExit(code)

    measured = cachebisect.ray_loop(ends)
    with pytest.raises(SystemExit):  # Its own: it was not measured.
        measured(1)
    monkeypatch.setattr(ray_loop_module, "_start", lambda job, relay: True)
    assert measured(0) is None
