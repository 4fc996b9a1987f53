"""What CI runs holds on any machine at any load: no test decides by a wall clock, and none expects
the verdict of a run in real time. Such tests have the marker nightly. Needs no torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CLOCKS = {"time", "monotonic", "perf_counter", "process_time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}
MEASURED = {"kind", "stage", "drop", "fix_first", "rank"}
"""Fields of a verdict that a run measures."""


def is_nightly(node: ast.AST) -> bool:
    """True for a function with the marker, or an assignment of it to a module's pytestmark."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return any("mark.nightly" in ast.unparse(mark) for mark in node.decorator_list)
    return isinstance(node, ast.Assign) and (
        ast.unparse(node.targets[0]) == "pytestmark" and "mark.nightly" in ast.unparse(node.value)
    )


def of_ci(source: str) -> Iterator[ast.AST]:
    """Everything in a module but what runs nightly."""
    module = ast.parse(source)
    if any(is_nightly(node) for node in module.body):
        return
    for top in module.body:
        if not is_nightly(top):
            yield from ast.walk(top)


def clocks(source: str) -> list[str]:
    found = []
    for node in of_ci(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func.value) == "time" and node.func.attr in CLOCKS:
                found.append(ast.unparse(node))
            if ast.unparse(node.func) in ("datetime.now", "datetime.datetime.now"):
                found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found.extend(name.name for name in node.names if name.name in CLOCKS)
    return found


def real_verdicts(source: str) -> list[str]:
    """Comparisons with what the built command found in a loop in real time."""
    if "from commands import" not in source and "COMMAND" not in source:
        return []
    return [
        ast.unparse(node)
        for node in of_ci(source)
        if isinstance(node, ast.Compare)
        and "verdict" in ast.unparse(node.left)
        and any(f"'{key}'" in ast.unparse(node.left) for key in MEASURED)
    ]


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.name)
def test_nothing_that_ci_runs_depends_on_the_speed_of_the_machine(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert clocks(source) == []
    assert real_verdicts(source) == []


def test_clocks_and_real_verdicts_are_found_where_they_are_planted() -> None:
    body = "    assert time.monotonic() - began < 30\n"
    assert clocks("def test_a():\n" + body) == ["time.monotonic()"]
    assert clocks("from time import perf_counter") == ["perf_counter"]
    assert clocks("@pytest.mark.nightly\ndef test_a():\n" + body) == []
    assert clocks("pytestmark = [pytest.mark.nightly]\ndef test_a():\n" + body) == []
    assert clocks("def test_a():\n    time.sleep(1)\n") == []
    verdict = "from commands import run\ndef test_a():\n    assert r['verdict']['kind'] == 'drop'\n"
    assert real_verdicts(verdict) == ["r['verdict']['kind'] == 'drop'"]
    assert real_verdicts(verdict.replace("commands", "fakes")) == []
