"""The result of a bisection."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, Optional, Union


class Section:
    """A part of the report whose fields are attributes, as named in the JSON schema."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            known = ", ".join(sorted(self._fields))
            raise AttributeError(f"no field {name!r}; there are {known}") from None

    def __repr__(self) -> str:
        return f"Section({self._fields!r})"


class Report:
    """What was measured. `print(report)` is the terminal report; a value, safe to share.

    report.verdict.kind, .stage, .drop, .text ... are the fields of `verdict` in
    docs/schema/report.schema.json; to_dict() gives all of them.
    """

    def __init__(self, fields: dict[str, Any], text: str, exit_code: int = 0) -> None:
        self._fields = fields
        self._text = text
        self.exit_code = exit_code
        """Of the engine: 0, or what docs/report.md says; 130 after Ctrl-C."""

    @property
    def verdict(self) -> Section:
        """Which stage costs how much, or why that cannot be said."""
        return Section(self._fields["verdict"])

    @property
    def interrupted(self) -> bool:
        """True if the run ended before its verdict: the report holds what was measured so far."""
        return bool(self._fields.get("interrupted", False)) or self.exit_code != 0

    def to_dict(self) -> dict[str, Any]:
        """The whole report as in its JSON file; a copy."""
        return copy.deepcopy(self._fields)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the JSON report to `path`, whole or not at all. Raises OSError."""
        temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(self._fields, file, indent=2)
                file.write("\n")
            os.replace(temporary, path)
        except OSError:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<cachebisect.Report: {self._fields.get('verdict', {}).get('text', '')}>"


def read_report(json_text: Optional[str], text: Optional[str], exit_code: int) -> Optional[Report]:
    """A Report of the two files that the engine wrote; None if it wrote none."""
    if json_text is None:
        return None
    return Report(json.loads(json_text), text or "", exit_code)
