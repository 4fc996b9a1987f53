"""The result of a bisection."""

from __future__ import annotations

import copy
import html
import json
import os
from collections.abc import Mapping
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
        return f"{type(self).__name__}({self._fields!r})"


class Verdict(Section):
    """Which stage costs how much. None: not known, or it does not apply."""

    kind: str
    """ "drop", "spread", "flat", "anomaly" or "inconclusive"."""
    stage: Optional[str]
    stage_index: Optional[int]
    rank: Optional[int]
    ranks: Optional[dict[str, Any]]
    straggler: Optional[dict[str, Any]]
    drop: Optional[float]
    drop_interval: Optional[list[Optional[float]]]
    span: Optional[str]
    tied_with: list[str]
    shares: list[str]
    fix_first: Optional[str]
    detectable_drop: Optional[float]
    rounds: int
    certified_after_seconds: Optional[float]
    needed: Optional[dict[str, Any]]
    text: str


class Report:
    """What was measured. `print(report)` is the terminal report; a value, safe to share.

    report.verdict.kind, .stage, .drop, .text ... are the fields of `verdict` in
    docs/schema/report.schema.json; to_dict() gives all of them.
    """

    def __init__(
        self, fields: dict[str, Any], files: Mapping[str, bytes], exit_code: int = 0
    ) -> None:
        self._fields = fields
        self._files = dict(files)
        self.exit_code = exit_code
        """The engine's exit code: 0, or what docs/use/report.md says; 130 after Ctrl-C."""

    @property
    def verdict(self) -> Verdict:
        """Which stage costs how much, or why that cannot be said."""
        return Verdict(self._fields["verdict"])

    @property
    def interrupted(self) -> bool:
        """True if the run ended before its verdict: the report holds what was measured so far."""
        return bool(self._fields.get("interrupted", False)) or self.exit_code != 0

    def to_dict(self) -> dict[str, Any]:
        """The whole report as in its JSON file; a copy."""
        return copy.deepcopy(self._fields)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the report to `path`, whole or not at all.

        The extension chooses the format, as the engine wrote it: .json, .html (a page), .csv,
        .yaml, .prom (Prometheus), .md (Markdown), .txt (as on the terminal).

        Raises ValueError for another extension, OSError for a file that cannot be written.
        """
        extension = os.path.splitext(os.fspath(path))[1].lower()
        if extension not in self._files:
            known = ", ".join(sorted(self._files))
            raise ValueError(f"{os.fspath(path)}: the extension must be one of {known}")
        _write_whole(os.fspath(path), self._files[extension])

    def __str__(self) -> str:
        return self._files.get(".txt", b"").decode()

    def _repr_html_(self) -> Optional[str]:
        """The page, for notebooks; None (they then show repr()) if the engine wrote none."""
        if ".html" not in self._files:
            return None
        page = html.escape(self._files[".html"].decode())
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="cachebisect report" '
            'style="width: 100%; height: 50em; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<cachebisect.Report: {self._fields.get('verdict', {}).get('text', '')}>"


def read_report(files: Mapping[str, bytes], exit_code: int) -> Optional[Report]:
    """A Report of the files that the engine wrote, by extension; None if it wrote none."""
    if ".json" not in files:
        return None
    return Report(json.loads(files[".json"]), files, exit_code)


def _write_whole(path: str, content: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
