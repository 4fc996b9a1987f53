"""A session of scripts/gpu-check in a temporary folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gpu_check.session import Options, Session


def options_in(tmp_path: Path) -> Options:
    """With an empty build."""
    build = tmp_path / "build"
    (build / "bin").mkdir(parents=True)
    (build / "tests").mkdir()
    return Options(tmp_path, build, None, dry_run=True)


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)


def records(session: Session) -> list[Any]:
    path = session.options.out / "t.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def outcomes(session: Session) -> dict[str, str]:
    return {record["check"]: record["outcome"] for record in records(session)}
