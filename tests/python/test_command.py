"""Whole runs of the built command: what a script does to itself, and what dies around it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HOOK, PARTIAL_ROUNDS, SCRIPT, Run, needs_command, run_script

pytestmark = needs_command


def test_a_script_without_a_loader_is_exit_2(tmp_path: Path) -> None:
    run = run_script(tmp_path, "import torch.utils.data")
    assert run.end() == 2
    assert "seen: train.py" in run.errors()
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
    "ending,says",
    [
        ("sys.exit(5)", "training ended before the measurement did"),
        ("os._exit(0)", "the training process ended"),
        ("os.execv('/bin/true', ['true'])", "the training process ended"),
        ("os.kill(os.getpid(), 9)", "the training process ended"),
        ("raise ValueError('loss is nan')", "ValueError: loss is nan (TRAIN:"),
    ],
)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_script_that_ends_while_it_is_measured(
    ending: str, says: str, workers: int, tmp_path: Path
) -> None:
    """The report so far is written; of an error, with the last lines of its traceback."""
    late = f"if rounds == {PARTIAL_ROUNDS}: {ending}"
    run = run_script(tmp_path, SCRIPT, workers, late=late)
    assert run.end() == 3, run.errors()
    report = run.report()
    assert report is not None and report["interrupted"], run.errors()
    failed = [warning for warning in report["warnings"] if warning["code"] == "run_failed"]
    assert says.replace("TRAIN", str(tmp_path / "train.py")) in failed[0]["text"], failed
    raised = "ValueError: loss is nan"
    assert (
        (raised in run.errors()) == (failed[0]["details"][-1:] == [raised]) == ("raise" in ending)
    )


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
    options = ("--budget", "3", "--sustain", "0", "--no-explain")
    run = run_script(tmp_path, again + SCRIPT, 1, options=options)
    assert run.end() == 0, run.errors()
    assert run.report() is not None


def test_an_engine_that_is_killed_leaves_training_alone(tmp_path: Path) -> None:
    """The command is the parent of the script. Its exit code is that of the signal."""
    text = SCRIPT.replace("while True", "for epoch in range(2)") + "    (HERE / 'end').touch()\n"
    text = text.replace("HERE", f"__import__('pathlib').Path({str(tmp_path)!r})")
    run = run_script(tmp_path, text, 2, late="if rounds == 1: rounds = 2; os.kill(os.getppid(), 9)")
    assert run.end() == -9, run.errors()
    assert (tmp_path / "end").exists() and "training goes on" in run.errors()


def test_a_python_that_the_script_starts_while_it_is_measured_runs(tmp_path: Path) -> None:
    """It loads the hook, too, and no engine listens any more."""
    start = "subprocess.run([sys.executable, '-c', 'print(6 * 7)'], check=True, timeout=120)"
    gone = "assert not os.path.exists(os.environ['CACHEBISECT_SOCKET'])"
    late = f"if rounds == 1: import subprocess; {gone}; {start}; sys.exit(5)"
    run = run_script(tmp_path, SCRIPT, late=late)
    assert run.end() == 3, run.errors()
    assert "training ended before the measurement did" in run.errors()
    assert "42" in run.output


def test_names_that_are_not_ascii(tmp_path: Path) -> None:
    """Names of classes, of files, and a message with bytes that are no UTF-8."""
    text = SCRIPT.replace("if __name__", "class Größe(Member): pass\n\nif __name__", 1)
    text = text.replace("Compose([Member(", "Compose([Größe(")
    late = f"if rounds == {PARTIAL_ROUNDS}: raise ValueError('ü \\udcff')"
    run = run_script(tmp_path, text, late=late, name="Übung.py")
    assert run.end() == 3, run.errors()
    report = run.report()
    assert report is not None, run.errors()
    assert report["pipeline"]["name"] == "Übung.py"
    assert "transforms[0] Größe" in [stage["name"] for stage in report["stages"]]
    assert "ValueError: ü ?" in report["warnings"][-1]["text"]
