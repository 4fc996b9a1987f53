"""What was checked: a line on standard output and a line of JSON for each check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

OK, FAIL, SKIP = "ok", "FAIL", "skip"


class Results:
    """The checks of one part, also written to `path` as JSON Lines."""

    def __init__(self, part: str, path: Path) -> None:
        self._part = part
        self._path = path
        self._path.write_text("")
        self.outcomes: list[str] = []
        self.failed: list[str] = []

    def add(
        self, outcome: str, name: str, figure: str, limit: Optional[str] = None, **values: Any
    ) -> None:
        """`values` are the figures as numbers, for programs that read the file."""
        self.outcomes.append(outcome)
        if outcome == FAIL:
            self.failed.append(name)
        after = f" ({limit})" if limit else ""
        print(f"{outcome:<4} {self._part}: {name}: {figure}{after}", flush=True)
        record = {"part": self._part, "check": name, "outcome": outcome, "figure": figure}
        with self._path.open("a") as file:
            file.write(json.dumps({**record, "limit": limit, **values}) + "\n")

    def judge(
        self, right: bool, name: str, figure: str, limit: Optional[str] = None, **values: Any
    ) -> None:
        self.add(OK if right else FAIL, name, figure, limit, **values)


def exit_code(outcomes: list[str]) -> int:
    """1 if a check failed, 2 if nothing could be checked."""
    if FAIL in outcomes:
        return 1
    return 0 if OK in outcomes else 2


def summary(outcomes: list[str], failed: list[str]) -> str:
    counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in (OK, FAIL, SKIP))
    return counts + ("; failed: " + ", ".join(failed) if failed else "")
