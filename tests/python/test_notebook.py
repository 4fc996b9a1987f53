"""examples/python/notebook.ipynb runs, and its report shows itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("CACHEBISECT_BINARY") or str(ROOT / "build/release/bin/cachebisect")


@pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason="the command is not built")
def test_the_notebook_ends_with_a_page_in_place(monkeypatch: Any) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("CACHEBISECT_BINARY", COMMAND)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    notebook = nbformat.read(ROOT / "examples/python/notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=1200).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = cells[1].outputs[-1].data
    assert shown["text/html"].startswith("<iframe srcdoc=")
    assert "samples/s" in shown["text/html"]
    assert "cachebisect.Report" in shown["text/plain"]
    assert "tokenize" in cells[2].outputs[-1].data["text/plain"]
