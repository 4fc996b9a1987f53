"""What Ray Data itself says of its operators: figures of the script's own iteration so far."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_KINDS = ("Dataset", "MaterializedDataset", "DataIteratorImpl")
"""Classes whose figures are in this process."""
_MOST = 8
_OPERATOR = re.compile(r"^(?:\t| )*Operator \d+ (?P<name>.*): (?P<tasks>\d+) tasks? executed")
_SECONDS = re.compile(
    r"^\s*\* Remote (?P<kind>wall|cpu) time: .* (?P<total>[0-9.]+)(?P<unit>us|ms|s) total"
)
_ROWS = re.compile(r"^\s*\* Output num rows per block: .* (?P<rows>\d+) total")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def notes_of_ray(made_from: Iterable[Any]) -> list[str]:
    """What the first Dataset or DataIterator of Ray Data in `made_from` tells; nothing if there is
    none, or it tells nothing yet. Never raises."""
    for value in made_from:
        kind = type(value)
        if str(kind.__module__).startswith("ray.data.") and kind.__name__ in _KINDS:
            try:
                return _notes(str(value.stats()))
            except Exception:  # Another version.
                return []
    return []


def _notes(text: str) -> list[str]:
    operators: list[dict[str, str]] = []
    for line in text.splitlines():
        if found := _OPERATOR.match(line):
            operators.append({"name": found["name"], "tasks": found["tasks"]})
        elif operators and (found := _SECONDS.match(line)):
            seconds = float(found["total"]) * _UNITS[found["unit"]]
            operators[-1].setdefault(found["kind"], f"{seconds:.3g}")
        elif operators and (found := _ROWS.match(line)):
            operators[-1].setdefault("rows", found["rows"])
    told = [_words(one) for one in operators if "wall" in one]
    return [f"Ray's own figures, observed and not replayed: {one}" for one in told[:_MOST]]


def _words(operator: dict[str, str]) -> str:
    cpu = f", {operator['cpu']} s of them on CPUs" if "cpu" in operator else ""
    rows = f" for {operator['rows']} rows" if "rows" in operator else ""
    return f"{operator['name']}: {operator['wall']} s in {operator['tasks']} tasks{cpu}{rows}"
