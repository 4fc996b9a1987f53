"""The files of a report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reports:
    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def text(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8")

    def json(self) -> Any:
        return json.loads(self.text("report.json"))
