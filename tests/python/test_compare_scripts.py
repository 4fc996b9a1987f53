"""`compare --run -- python a.py -- python b.py`: two scripts in turns, and no process is left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from commands import COMMAND, HOOK, SCRIPT, Run, needs_command

pytestmark = needs_command


def script(folder: Path, name: str, seconds: str, late: str = "pass") -> str:
    text = SCRIPT.replace("Member(1, 0.002)", f"Member(1, {seconds})")
    for word, value in (("WORKERS", "2"), ("METHOD", '"fork"'), ("LATE", late)):
        text = text.replace(word, value)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def compare(folder: Path, a: list[str], b: list[str], *options: str) -> Run:
    words = [str(COMMAND), "compare", "--run", "--hook", str(HOOK), "--no-progress", *options]
    return Run(folder, [*words, "--", *a, "--", *b])


def python(path: str) -> list[str]:
    return [sys.executable, path]


def compared(tmp_path: Path, budget: str) -> tuple[int, Any]:
    """The exit code and the comparison of a script with one whose member waits 20 times longer."""
    a = python(script(tmp_path, "a.py", "0.001"))
    b = python(script(tmp_path, "b.py", "0.02"))
    path = str(tmp_path / "c.json")
    run = compare(tmp_path, a, b, "--budget", budget, "--json", path, "--fail-on", "live<-5%")
    code = run.end()
    assert code in (0, 5), run.errors()
    return code, json.loads(Path(path).read_text())


def test_both_scripts_are_measured_in_turns(tmp_path: Path) -> None:
    code, found = compared(tmp_path, "6")
    assert found["paired"] is True
    assert found["a"]["source"].endswith("a.py") and found["b"]["source"].endswith("b.py")
    assert "live" in [figure["id"] for figure in found["figures"]]
    assert (code == 5) == (found["gates"][0]["outcome"] == "fired")


@pytest.mark.nightly
def test_a_stage_that_became_slower_is_named_with_its_factor(tmp_path: Path) -> None:
    code, found = compared(tmp_path, "20")
    assert code == 5
    by_id = {figure["id"]: figure for figure in found["figures"]}
    assert by_id["live"]["kind"] == "lower"
    member = by_id["stages.transforms[0] Member.busy"]
    assert member["kind"] == "higher"
    assert member["change"]["value"] > 1
    assert any("Member's busy time per sample rose" in text for text in found["findings"])


def test_a_script_without_a_loader_is_named(tmp_path: Path) -> None:
    a = python(script(tmp_path, "a.py", "0.001"))
    run = compare(tmp_path, a, [sys.executable, "-c", "pass"])
    assert run.end() == 2
    assert "B: the command ended without iterating" in run.errors()


def test_a_script_that_fails_ends_both(tmp_path: Path) -> None:
    a = python(script(tmp_path, "a.py", "0.001"))
    b = python(script(tmp_path, "b.py", "0.001", "if rounds == 1: raise ValueError('b is broken')"))
    run = compare(tmp_path, a, b, "--confidence", "0.99999")
    assert run.end() in (0, 3), run.errors()
    assert "b is broken" in run.errors()


def test_ctrl_c_ends_both(tmp_path: Path) -> None:
    words = python(script(tmp_path, "a.py", "0.001"))
    run = compare(tmp_path, words, words)
    run.await_training()
    assert run.end(interrupted=True) == 130, run.errors()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a.json", "b.json", "c.json"], "two files, or two commands"),
        (["--", "python", "a.py", "--", "python", "b.py"], "compared with --run"),
    ],
)
def test_what_is_not_understood(tmp_path: Path, words: list[str], text: str) -> None:
    run = Run(tmp_path, [str(COMMAND), "compare", *words])
    assert run.end() == 2
    assert text in run.errors()
