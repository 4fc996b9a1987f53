"""scripts/ci_compare, run as the step of action.yml: what the command is called with, what the job
ends with and is told, and that no value is run that is not a command. Needs no torch."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from ci_action import ROOT, Step, files_in

FIRED = [
    {"gate": "live<-5%", "outcome": "fired", "reason": "-9.1% (-11 to -6.7%)"},
    {"gate": "live<-90%", "outcome": "passed", "reason": "-9.1%"},
    {"gate": "stages.50%\n::add-mask::.busy>+1%", "outcome": "fired", "reason": "+2%"},
]
HOSTILE = [
    "$(touch planted)",
    "`touch planted`",
    "; touch planted",
    "x\ntouch planted",
    "\"; touch planted; '",
    "' || touch planted #",
    "--help\n$(touch planted)",
    "*",
    "--",
    "-",
    "%0A::add-mask::x\r\n::add-mask::x",
    "${PATH}",
    "a\\",
    "\u00e4 \U0001f600",
]


def run(folder: Path, inputs: dict[str, str], code: int = 0, **more: str) -> Step:
    step = Step(folder, inputs, FAKE_CODE=str(code), **more)
    assert step.run() == code, step.out
    return step


def test_scripts_are_run_by_bash(tmp_path: Path) -> None:
    step = run(tmp_path, {"before": "cd main && python a.py 'x  y'", "after": "python b.py -- c"})
    a, b = "cd main && python a.py 'x  y'", "python b.py -- c"
    options = ["--format=markdown", "--no-progress", "--json=comparison.json", "--run"]
    commands = ["--", "bash", "-ec", a, "--", "bash", "-ec", b]
    assert step.words() == ["compare", *options, "--fail-on=live<-5%", *commands]
    assert step.seen()["variables"] == []
    assert step.seen()["stdin"] == ""
    assert step.heeded() == []


def test_the_commands_do_what_a_shell_does(tmp_path: Path) -> None:
    before = "printf '%s|' \"a  b\" 'c\"d' $((1 + 1)) >before.txt\necho loud"
    step = run(tmp_path, {"before": before, "after": "cd missing\ntouch planted"}, FAKE_RUNS="1")
    assert (tmp_path / "before.txt").read_text() == 'a  b|c"d|2|'
    # A folder that is not there must not end in a comparison of a version with itself.
    assert step.seen()["codes"] == [0, 1]
    assert not (tmp_path / "planted").exists()
    assert "loud" in step.out
    assert "loud" not in step.summary()


@pytest.mark.parametrize("kind,run_words", [("pipelines", ["--run"]), ("reports", [])])
def test_files(tmp_path: Path, kind: str, run_words: list[str]) -> None:
    inputs = {"kind": kind, "before": "main/a b.json", "after": "-b.json", "budget": "20"}
    inputs.update(
        {"fail-on": "live<-5%\n\n  loss>+3%\n", "options": "--device=emulated\n--workers=2"}
    )
    step = run(tmp_path, inputs)
    options = ["--format=markdown", "--no-progress", "--json=comparison.json", *run_words]
    given = ["--budget=20", "--fail-on=live<-5%", "--fail-on=loss>+3%", "--device=emulated"]
    files = ["main/a b.json", "./-b.json"]
    assert step.words() == ["compare", *options, *given, "--workers=2", *files]


def test_no_gates(tmp_path: Path) -> None:
    step = run(tmp_path, {"fail-on": ""})
    assert not any(word.startswith("--fail-on") for word in step.words())


def test_what_is_given_back(tmp_path: Path) -> None:
    step = run(tmp_path, {"json": "a\nb=c.json"})
    assert step.outputs() == {"exit-code": "0", "json": "a\nb=c.json"}
    assert step.summary().strip().splitlines() == ["::error::planted", "### cachebisect compare"]
    assert "### cachebisect compare" in step.out
    assert step.out.index("said on standard error") > step.out.index("::stop-commands::")


def test_a_gate_that_failed_is_named(tmp_path: Path) -> None:
    # A module of the job's folder must not take the place of Python's.
    (tmp_path / "json.py").write_text("open('planted', 'w')")
    step = run(tmp_path, {}, 5, FAKE_GATES=json.dumps(FIRED))
    (line,) = step.heeded()
    assert line.startswith("::error title=cachebisect compare::a gate failed: live<-5%25: -9.1%25")
    assert "; stages.50%25%0A::add-mask::.busy>+1%25: +2%25" in line
    assert "90%" not in line
    assert step.outputs() == {"exit-code": "5", "json": "comparison.json"}
    assert "### cachebisect compare" in step.summary()
    assert not (tmp_path / "planted").exists()


def test_a_gate_that_failed_without_details(tmp_path: Path) -> None:
    step = run(tmp_path, {}, 5, FAKE_GATES="1")
    assert step.heeded()[0].endswith("::a gate failed: the comparison says which")


def test_a_gate_that_was_not_decided_is_a_notice(tmp_path: Path) -> None:
    gate = {"gate": "live<-5%", "outcome": "undecided", "reason": "few rounds"}
    step = run(tmp_path, {}, FAKE_GATES=json.dumps([gate]))
    (line,) = step.heeded()
    assert line == "::notice title=cachebisect compare::not decided: live<-5%25: few rounds"


@pytest.mark.parametrize(
    "code,meaning",
    [
        (1, "internal error"),
        (2, "an option or an input is wrong"),
        (3, "a script, a stage or the training step failed"),
        (4, "the device"),
        (6, "could not be written"),
        (130, "interrupted"),
        (99, "ended unexpectedly"),
    ],
)
def test_other_exit_codes_are_said_with_their_meaning(
    tmp_path: Path, code: int, meaning: str
) -> None:
    (tmp_path / "comparison.json").write_text("of an earlier step")
    step = run(tmp_path, {}, code)
    (line,) = step.heeded()
    assert line.startswith(f"::error title=cachebisect compare::exit code {code}: ")
    assert meaning in line
    assert step.outputs() == {"exit-code": str(code)}
    assert step.summary() == ""


def test_without_the_files_of_github(tmp_path: Path) -> None:
    step = Step(tmp_path, {}, github=False)
    assert step.run() == 0
    assert "### cachebisect compare" in step.out
    assert step.heeded() == []


def test_without_a_summary(tmp_path: Path) -> None:
    assert run(tmp_path, {"summary": "false"}).summary() == ""


@pytest.mark.parametrize("name", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_a_file_of_github_that_is_full_changes_no_result(tmp_path: Path, name: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    step = run(tmp_path, {}, 5, **{name: "/dev/full"})
    assert any(line.startswith("::warning ") for line in step.heeded())
    assert step.heeded()[-1].startswith("::error ")


@pytest.mark.parametrize(
    "inputs,message",
    [
        ({"kind": "script"}, "kind is 'script'"),
        ({"kind": "x\n::add-mask::y"}, "kind is 'x%0A::add-mask::y'"),
        ({"summary": "yes"}, "summary is 'yes'"),
        ({"before": " \n"}, "before is empty"),
        ({"after": ""}, "after is empty"),
        ({"json": "-"}, "json is '-'"),
        ({"options": "--device emulated\nemulated"}, "options has 'emulated'"),
        ({"options": "--"}, "options has '--'"),
    ],
)
def test_wrong_inputs_are_refused(tmp_path: Path, inputs: dict[str, str], message: str) -> None:
    step = run(tmp_path, inputs, 2)
    (line,) = step.heeded()
    assert line.startswith("::error ") and message in line
    assert "seen.json" not in files_in(tmp_path)
    assert step.outputs() == {}


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["before", "after", "budget", "fail-on", "json"])
def test_no_value_is_run(tmp_path: Path, name: str, value: str) -> None:
    step = Step(tmp_path, {"kind": "pipelines", name: value}, FAKE_CODE="3")
    code = step.run()
    assert code == (2 if (name, value) == ("json", "-") else 3), step.out
    assert "planted" not in files_in(tmp_path)
    assert [line.split(" ")[0] for line in step.heeded()] == ["::error"]
    if code == 3:
        words = step.words()
        expected = f"./{value}" if value.startswith("-") and name in ("before", "after") else value
        for line in expected.split("\n") if name == "fail-on" else [expected]:
            prefix = "" if name in ("before", "after") else f"--{name}="
            assert prefix + line.strip() in [word.strip() for word in words]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["kind", "summary", "options", "install"])
def test_no_word_is_run(tmp_path: Path, name: str, value: str) -> None:
    step = Step(tmp_path, {name: value})
    step.run()
    assert "planted" not in files_in(tmp_path)
    assert [line for line in step.heeded() if "add-mask" in line.split("::")[1]] == []


def test_install(tmp_path: Path) -> None:
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--"]
    run(tmp_path, {"install": ""})
    assert (tmp_path / "pip.txt").read_text().splitlines() == [*pip, str(ROOT)]
    run(tmp_path, {"install": "cachebisect==0.1.0\n./my wheel.whl"})
    given = ["cachebisect==0.1.0", "./my wheel.whl"]
    assert (tmp_path / "pip.txt").read_text().splitlines() == [*pip, *given]


def test_what_cannot_be_installed_or_found(tmp_path: Path) -> None:
    step = Step(tmp_path, {"install": ""}, FAKE_PIP="1")
    assert step.run() == 1
    assert "pip could not install" in step.heeded()[0]
    step = Step(tmp_path, {})
    (tmp_path / "programs/cachebisect").unlink()
    assert step.run() == 1
    assert "cachebisect is not on PATH" in step.heeded()[0]


WAITS = """#!/bin/bash
trap 'echo heard >heard; exit 143' {name}
echo $$ >ready
read -r _ <>never
"""


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_to_the_step_reaches_the_command(tmp_path: Path, name: str) -> None:
    step = Step(tmp_path, {})
    (tmp_path / "programs/cachebisect").write_text(WAITS.format(name=name))
    for pipe in ("ready", "never"):
        os.mkfifo(tmp_path / pipe)
    process = step.start()
    command = int((tmp_path / "ready").read_text())  # It has its trap.
    process.send_signal(getattr(signal, f"SIG{name}"))
    try:
        assert step.end(process, limit=300) == 143
    finally:
        if not (tmp_path / "heard").exists():
            os.kill(command, signal.SIGKILL)
            process.kill()
    assert (tmp_path / "heard").exists()
    assert "interrupted" in step.heeded()[-1]
