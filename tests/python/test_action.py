"""action.yml is what the runner reads, and no input of it is part of the shell's code; the recipes
in the documents use what there is. Needs no torch."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from ci_action import ROOT, input_of, read_action, yaml

SCRIPT = ROOT / "scripts/ci_compare"
PAGE = ROOT / "docs/use/ci.md"


def code_of(steps: list[dict[str, str]]) -> list[str]:
    return [step["run"] for step in steps if "run" in step]


def test_it_is_a_composite_action_with_documented_inputs() -> None:
    action = read_action()
    assert action["runs"]["using"] == "composite"
    for name, about in action["inputs"].items():
        assert re.fullmatch(r"[a-z][a-z-]*", name)
        assert about["description"]
        # An expression in a default would be evaluated where the action's own folder is not known.
        assert "${{" not in about.get("default", "")
        assert about.get("required", False) == ("default" not in about)
    for about in action["outputs"].values():
        assert about["description"] and about["value"].startswith("${{ steps.compare.outputs.")


def test_inputs_reach_the_shell_as_variables_alone() -> None:
    action = read_action()
    steps = action["runs"]["steps"]
    assert len(code_of(steps)) == 1
    for code in code_of(steps):
        assert "${{" not in code
        assert code.startswith("set -euo pipefail\n")
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    used = [
        value
        for step in steps
        for value in {**step.get("env", {}), **step.get("with", {})}.values()
    ]
    assert sorted(input_of(value) for value in used) == sorted(action["inputs"])


def test_every_variable_is_one_that_the_script_reads() -> None:
    (step,) = [step for step in read_action()["runs"]["steps"] if "run" in step]
    read = set(re.findall(r"\$\{(COMPARE_[A-Z_]+)", SCRIPT.read_text(encoding="utf-8")))
    assert set(step["env"]) == read


def test_the_script_is_executable_and_clean() -> None:
    assert SCRIPT.stat().st_mode & 0o111
    assert "eval" not in SCRIPT.read_text(encoding="utf-8")
    if shutil.which("shellcheck") is None:
        pytest.skip("there is no shellcheck")
    subprocess.run(["shellcheck", "-x", str(SCRIPT)], check=True)


def recipes() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_recipes_use_inputs_that_there_are() -> None:
    inputs = read_action()["inputs"]
    given = 0
    for recipe in recipes():
        for text in re.findall(r"cachebisect@\S+\n\s+with:\n((?: {10,}.*\n)+)", recipe):
            names = set(re.findall(r"^ {10}([a-z-]+):", text, re.M))
            assert {"before", "after"} <= names <= set(inputs)
            given += 1
    assert given >= 2


def test_every_input_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in read_action()["inputs"] if f"`{name}`" not in page] == []


def test_the_recipes_are_yaml() -> None:
    for recipe in recipes():
        assert yaml.safe_load(recipe)


def test_the_head_of_the_script_names_every_variable() -> None:
    head = SCRIPT.read_text(encoding="utf-8").split("set -euo", 1)[0]
    (step,) = [step for step in read_action()["runs"]["steps"] if "run" in step]
    assert [name for name in step["env"] if name not in head] == []
