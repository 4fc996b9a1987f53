"""A report of the built command, saved in each of its formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from commands import COMMAND, needs_command

pytestmark = needs_command


def test_each_format_is_written_by_the_engine(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", str(COMMAND))
    batches = [torch.zeros(4, 2)] * 3
    report = cachebisect.bisect(
        batches, lambda batch: batch.sum(), budget=1, explain=False, progress=False, name="saved"
    )
    starts = {
        "json": "{",
        "html": "<!DOCTYPE html>",
        "csv": "started,",
        "yaml": "schema_version: 1",
        "prom": "# HELP cachebisect_",
        "md": "#",
        "txt": "saved",
    }
    texts = {}
    for extension, start in starts.items():
        path = tmp_path / f"saved.{extension}"
        report.save(path)
        texts[extension] = path.read_bytes().decode()
        assert texts[extension].startswith(start), texts[extension][:200]
    assert json.loads(texts["json"]) == report.to_dict()
    assert texts["txt"] == str(report)
    assert "\r\n" in texts["csv"]
    assert len(list(tmp_path.iterdir())) == len(starts)
