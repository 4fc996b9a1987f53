"""Runs the step of action.yml as GitHub's runner does, with a stand-in for `cachebisect`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"

FAKE = """#!{python}
import json, os, subprocess, sys

words = sys.argv[1:]
seen = {{"words": words, "stdin": sys.stdin.read()}}
seen["variables"] = [name for name in os.environ if name.startswith("COMPARE_")]
if "--" in words and os.environ.get("FAKE_RUNS"):
    a = words.index("--")
    b = words.index("--", a + 1)
    for command in (words[a + 1 : b], words[b + 1 :]):
        seen.setdefault("codes", []).append(subprocess.run(command, stdout=sys.stderr).returncode)
with open("seen.json", "w") as file:
    json.dump(seen, file)
print("said on standard error", file=sys.stderr)
print("::error::planted")
code = int(os.environ.get("FAKE_CODE", "0"))
if code in (0, 5):
    path = [word[7:] for word in words if word.startswith("--json=")][0]
    with open(path, "w") as file:
        json.dump({{"gates": json.loads(os.environ.get("FAKE_GATES", "[]"))}}, file)
    print("### cachebisect compare")
sys.exit(code)
"""

PYTHON = """#!/bin/sh
if [ "$1 $2" = "-m pip" ]; then printf '%s\\n' "$@" >pip.txt; exit "${{FAKE_PIP:-0}}"; fi
exec {python} "$@"
"""


def read_action() -> Any:
    return yaml.safe_load(ACTION.read_text(encoding="utf-8"))


def default_signals() -> None:
    """Whatever started the tests: what a shell finds to be ignored, it cannot trap."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Step:
    """One run of the step in `folder`, which takes the place of the job's workspace.

    `inputs` are those of the action, `environment` is for the stand-in. Files that GitHub gives
    are left out where `github` is False.
    """

    def __init__(self, folder: Path, inputs: dict[str, str], github: bool = True, **more: str):
        self.folder = folder
        self._output = folder / "github.output"
        self._summary = folder / "github.summary"
        inputs = {"before": "python a.py", "after": "python b.py", "install": "none", **inputs}
        self.command, self.environment = step_of(inputs)
        self.environment.update(PATH=f"{stand_ins(folder)}:/usr/bin:/bin", HOME=str(folder))
        if github:
            files = {"GITHUB_OUTPUT": self._output, "GITHUB_STEP_SUMMARY": self._summary}
            self.environment.update({name: str(path) for name, path in files.items()})
        self.environment.update(more)
        self.out = ""

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            preexec_fn=default_signals,
        )

    def run(self) -> int:
        return self.end(self.start())

    def end(self, process: subprocess.Popen[str], limit: Optional[float] = None) -> int:
        self.out, errors = process.communicate("typed", limit)
        assert errors == ""  # The order of lines in two streams is not known.
        return process.returncode

    def heeded(self) -> list[str]:
        """The workflow commands in the output that the runner obeys."""
        found: list[str] = []
        resume: Optional[str] = None
        for line in self.out.splitlines():
            if resume is not None:
                resume = None if line == resume else resume
            elif line.startswith("::stop-commands::"):
                resume = f"::{line[17:]}::"
            elif line.startswith("::"):
                found.append(line)
        assert resume is None, "the runner obeys no command any more"
        return found

    def words(self) -> list[str]:
        return list(self.seen()["words"])

    def seen(self) -> Any:
        return json.loads((self.folder / "seen.json").read_text())

    def summary(self) -> str:
        return self._summary.read_text() if self._summary.exists() else ""

    def outputs(self) -> dict[str, str]:
        """As the runner reads them: NAME<<WORD, the value, WORD."""
        found = {}
        text = self._output.read_text() if self._output.exists() else ""
        while text:
            head, text = text.split("\n", 1)
            name, word = head.split("<<")
            found[name], text = text.split(f"\n{word}\n", 1)
        return found


def step_of(inputs: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The shell code of the step and its variables, with the inputs in place of expressions."""
    action = read_action()
    values = {name: about.get("default", "") for name, about in action["inputs"].items()}
    assert set(inputs) <= set(values)
    values.update(inputs)
    (step,) = [step for step in action["runs"]["steps"] if "run" in step]
    environment = {"GITHUB_ACTION_PATH": str(ROOT)}
    for variable, expression in step["env"].items():
        environment[variable] = values[input_of(expression)]
    return step["run"], environment


def input_of(expression: str) -> str:
    head, name = expression.split("inputs.")
    assert head == "${{ " and name.endswith(" }}")
    return name[:-3]


def stand_ins(folder: Path) -> Path:
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, text in (("cachebisect", FAKE), ("python", PYTHON)):
        program = programs / name
        if not program.exists():
            program.write_text(text.format(python=sys.executable))
            program.chmod(0o755)
    return programs


def files_in(folder: Path) -> set[str]:
    return set(os.listdir(folder))
