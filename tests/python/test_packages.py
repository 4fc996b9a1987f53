"""Which parts of the package may use which: dependencies point down."""

from __future__ import annotations

import re
from pathlib import Path

import cachebisect

PACKAGE = Path(cachebisect.__file__).parent
FLOORS = (
    "_chain", "_worker", "_cache", "_prepare", "_job", "_engine", "_follow", "_script",
    "_prepare_script", "_timing", "_lightning", "_ray",
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


def imported_modules(module: Path) -> set[Path]:
    """Those of the package that are imported with `module`; what only types need is not."""
    found = set()
    line = r"^from (\.+)([\w.]*) import \(?([^)\n]*)"
    imports = re.findall(line, module.read_text(), re.MULTILINE)
    for dots, name, members in imports:
        base = module.parents[len(dots) - 1].joinpath(*name.split(".")) if name else module.parent
        found.add(base.with_suffix(".py"))
        found |= {base / f"{name}.py" for name in re.findall(r"\w+", members)}
    return {path for path in found if path.is_file()}


def test_no_module_imports_itself_through_others() -> None:
    done: set[Path] = set()

    def visit(module: Path, way: tuple[Path, ...]) -> None:
        assert module not in way, [path.name for path in (*way, module)]
        if module not in done:
            for one in imported_modules(module):
                visit(one, (*way, module))
        done.add(module)

    for module in PACKAGE.rglob("*.py"):
        visit(module, ())
    assert PACKAGE / "_follow/loaders.py" in imported_modules(PACKAGE / "_timing/hooks.py")
