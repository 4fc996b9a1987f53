"""scripts/gpu-check: parses the command line, runs the parts, prints a summary."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import part_number, part_right, part_runs, part_scripts, part_speed
from .driver import Driver, DriverError
from .results import exit_code, summary
from .session import ROOT, Options, Session

PARTS: dict[str, tuple[str, Callable[[Session], None]]] = {
    "a": ("does it run", part_runs.run),
    "b": ("is it right", part_right.run),
    "c": ("is it the user's number", part_number.run),
    "d": ("how fast", part_speed.run),
    "e": ("are scripts of users right", part_scripts.run),
}
NO_BUILD, NO_GPU = 2, 4


def parts_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is no part; they are a to e")
    return names


def parse(words: list[str]) -> tuple[list[str], Options]:
    parser = argparse.ArgumentParser(prog="gpu-check", description="Checks a machine with a GPU.")
    parser.add_argument("--parts", type=parts_of, default=list(PARTS), help="a,b,c,d,e")
    parser.add_argument("--out", type=Path, default=ROOT / "build/gpu-check", help="folder")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder")
    parser.add_argument("--python", help="a Python with torch, for part c")
    parser.add_argument(
        "--dry-run", action="store_true", help="without a GPU: everything on other devices"
    )
    given = parser.parse_args(words)
    return given.parts, Options(
        given.out.resolve(), given.build.resolve(), given.python, given.dry_run
    )


def main(words: list[str]) -> int:
    parts, options = parse(words)
    tool = options.build / "bin/cachebisect"
    if not os.access(tool, os.X_OK):
        print(f"skip everything: there is no {tool}; see docs/extend/building.md, or give --build")
        return NO_BUILD
    if not options.dry_run:
        try:
            print(f"on {Driver().gpu().name}")
        except DriverError as error:
            print(f"skip everything: {error}; --dry-run does without a GPU")
            return NO_GPU
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes: list[str] = []
    failed: list[str] = []
    for part in parts:
        title, run = PARTS[part]
        began = time.monotonic()
        session = Session(part, options)
        run(session)
        outcomes += session.results.outcomes
        failed += [f"{part}: {name}" for name in session.results.failed]
        print(f"     {part} ({title}) took {time.monotonic() - began:.0f} s")
    print(f"{summary(outcomes, failed)}; everything is in {options.out}")
    return exit_code(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
