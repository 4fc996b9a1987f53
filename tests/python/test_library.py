"""The library call: its report, and every way in which loader, step or engine can fail."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader

import cachebisect
from cachebisect._engine.command import find_binary
from cachebisect._worker.worker_end import death_of_worker, end_workers
from child_processes import children_left
from loaders import BadEnd, Compose, Failing, Items, Member, Stream

FAKE = Path(__file__).with_name("fake_cachebisect.py")


@pytest.fixture(autouse=True)
def fake_engine(monkeypatch: Any, tmp_path: Any) -> Any:
    """A command that runs the fake engine under this Python; nothing is left behind."""
    command = tmp_path / "cachebisect"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("CACHEBISECT_BINARY", str(command))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = set(os.listdir(tmp_path))
    yield
    assert children_left() == 0
    left = {name for name in os.listdir(tmp_path) if name.startswith("cachebisect-")}
    assert left <= before


def ready(length: int = 64, workers: int = 2) -> Any:
    return DataLoader(Items(Compose([Member()]), length), batch_size=4, num_workers=workers)


def nothing(_batch: Any) -> None:
    pass


def test_report(capsys: Any) -> None:
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(batch: Any) -> None:
        model(batch[0]).sum().backward()
        optimizer.step()

    before = model.weight.detach().clone()
    report = cachebisect.bisect(ready(), step, state=[model, optimizer], budget=5, name="mine")
    print(report)
    assert capsys.readouterr().out.strip() == "the terminal report"
    assert report.verdict.stage == "transforms[0] Member"
    assert not report.interrupted and report.exit_code == 0
    described = report.to_dict()["answers"][0]["chain"]
    assert described["name"] == "mine" and described["train"] == "step, Linear, SGD"
    assert torch.equal(model.weight, before), "the state is restored at the end"
    with pytest.raises(AttributeError, match="there are kind, stage, text"):
        _ = report.verdict.stagee


def test_the_extension_chooses_the_format_of_a_saved_report(tmp_path: Any) -> None:
    report = cachebisect.bisect(ready(), nothing)
    report.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == report.to_dict()
    report.save(str(tmp_path / "a.TXT"))
    assert (tmp_path / "a.TXT").read_text() == "the terminal report\n"
    for name in ["a.pdf", "a", ".json"]:
        with pytest.raises(ValueError, match=r"the extension must be one of \.json, \.txt"):
            report.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(OSError):
        report.save(tmp_path / "none" / "a.json")


def test_loader_without_workers_and_lists_of_batches() -> None:
    assert cachebisect.bisect(ready(workers=0), nothing).exit_code == 0
    assert cachebisect.bisect([torch.zeros(4, 2)] * 3, nothing).exit_code == 0


def test_a_generator_cannot_be_restarted() -> None:
    with pytest.raises(cachebisect.BisectError, match="cannot begin again") as caught:
        cachebisect.bisect((torch.zeros(4) for _ in range(5)), nothing)
    assert isinstance(caught.value.__cause__, ValueError)


def test_step_that_raises() -> None:
    seen = []

    def step(_batch: Any) -> None:
        seen.append(1)
        if len(seen) == 100:
            raise KeyError("loss")

    with pytest.raises(cachebisect.BisectError, match="KeyError") as caught:
        cachebisect.bisect(ready(), step)
    assert caught.value.report is not None and caught.value.report.interrupted
    answers = caught.value.report.to_dict()["answers"]
    assert answers[-1]["stage"] == "step" and answers[-1]["kind"] == "data"


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_that_raises(workers: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._job.pass_through.PASS_STEPS", 2)
    dataset = Failing(length=400)
    with pytest.raises(cachebisect.BisectError, match="bad sample") as caught:
        cachebisect.bisect(DataLoader(dataset, batch_size=4, num_workers=workers), nothing)
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.report is not None
    assert "stage" not in caught.value.report.to_dict()["answers"][-1]


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_that_raises_at_its_end(workers: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._job.pass_through.PASS_STEPS", 2)
    loader = DataLoader(BadEnd(length=64), batch_size=4, num_workers=workers)
    with pytest.raises(cachebisect.BisectError, match="truncated") as caught:
        cachebisect.bisect(loader, nothing)
    assert isinstance(caught.value.__cause__, OSError)


class Killing(Items):
    """Ends its worker, as the kernel does when memory runs out."""

    def __getitem__(self, index: int) -> Any:
        if index >= 60:
            os.kill(os.getpid(), 9)
        return super().__getitem__(index)


def test_worker_that_is_killed(monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._job.pass_through.PASS_STEPS", 2)
    loader = DataLoader(Killing(length=400), batch_size=4, num_workers=2)
    with pytest.raises(cachebisect.BisectError, match="exited unexpectedly|is killed"):
        cachebisect.bisect(loader, nothing)


def test_dataset_that_cannot_be_pickled() -> None:
    dataset = Items(lambda x: x)
    loader = DataLoader(dataset, batch_size=4, num_workers=1, multiprocessing_context="spawn")
    with pytest.raises(cachebisect.BisectError, match="pickle") as caught:
        cachebisect.bisect(loader, nothing)
    assert caught.value.__cause__ is not None


def test_stream_that_delivers_nothing() -> None:
    loader = DataLoader(Stream(shards=0), batch_size=4, num_workers=2)
    with pytest.raises(cachebisect.BisectError, match="delivered nothing"):
        cachebisect.bisect(loader, nothing)


def interrupted_step(after: int) -> Any:
    """A step during which Ctrl-C arrives."""
    seen = []

    def step(_batch: Any) -> None:
        seen.append(1)
        if len(seen) == after:
            raise KeyboardInterrupt

    return step


def test_interrupted_run_gives_the_report_so_far() -> None:
    report = cachebisect.bisect(ready(), interrupted_step(after=200))
    assert report.interrupted


def test_interrupt_before_anything_was_measured(monkeypatch: Any) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "unreported")
    with pytest.raises(KeyboardInterrupt):
        cachebisect.bisect(ready(), interrupted_step(after=200))


def test_interrupt_while_the_engine_starts_leaves_no_process(monkeypatch: Any) -> None:
    start = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    started = []

    def interrupted(process: Any, *arguments: Any) -> None:
        start(process, *arguments)
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cachebisect.bisect(ready(), nothing)
    assert started[0].returncode == -9


def test_engine_that_dies(monkeypatch: Any) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "die")
    with pytest.raises(cachebisect.EngineError, match="exit code"):
        cachebisect.bisect(ready(), nothing)


def test_engine_that_refuses_its_options(monkeypatch: Any) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "refuse")
    with pytest.raises(cachebisect.EngineError, match="exit code of the engine: 2"):
        cachebisect.bisect(ready(), nothing)


def test_state_without_state_dict() -> None:
    with pytest.raises(TypeError, match="has no state_dict"):
        cachebisect.bisect(ready(), nothing, state=[object()])


def test_missing_binary(monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", "/no/such/file")
    with pytest.raises(cachebisect.EngineError, match="cannot be executed"):
        find_binary()
    monkeypatch.delenv("CACHEBISECT_BINARY")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", lambda _name: "/nowhere")
    with pytest.raises(cachebisect.EngineError, match="CACHEBISECT_BINARY"):
        find_binary()


def test_worker_that_dies_while_it_sends_a_batch() -> None:
    """torch has not noticed yet; what it raises is the end of a connection."""
    context = multiprocessing.get_context("fork")
    worker = context.Process(target=lambda: os.kill(os.getpid(), 9), daemon=True)
    worker.start()
    death = death_of_worker(EOFError(), [worker])
    assert death == f"DataLoader worker (pid {worker.pid}) is killed by signal: Killed"
    assert death_of_worker(ValueError("bad sample"), [worker]) is None
    assert death_of_worker(EOFError(), []) is None


def test_worker_that_aborts_while_it_ends() -> None:
    class Iterator:
        def _shutdown_workers(self) -> None:
            raise RuntimeError("DataLoader worker (pid 1) is killed by signal: Aborted.")

    end_workers(Iterator())
    end_workers(object())
