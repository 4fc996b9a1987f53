"""Which parts of the package may use which: dependencies point down."""

from __future__ import annotations

import re
from pathlib import Path

import cachebisect

PACKAGE = Path(cachebisect.__file__).parent
FLOORS = (
    "_chain", "_worker", "_cache", "_prepare", "_job", "_engine", "_follow", "_script",
    "_prepare_script", "_timing", "_lightning",
)  # fmt: skip
"""Lowest first. Each uses what is below it; modules of the package itself use all of them."""
LINES = 250
"""Most lines of a module."""


def used_packages(module: Path) -> set[str]:
    """Packages next to that of `module` which it imports from."""
    return set(re.findall(r"^\s*from \.\.(\w+)", module.read_text(), re.MULTILINE))


def test_each_package_uses_only_packages_below_it() -> None:
    for floor, package in enumerate(FLOORS):
        modules = list((PACKAGE / package).glob("*.py"))
        assert modules, package
        for module in modules:
            above = used_packages(module) - {*FLOORS[:floor], "_version"}
            assert not above, f"{module.relative_to(PACKAGE)} uses {sorted(above)}"


def test_every_package_has_a_floor() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(FLOORS)


def test_modules_are_short() -> None:
    for module in PACKAGE.rglob("*.py"):
        assert len(module.read_text().splitlines()) <= LINES, module
