"""Reports in every file format, written by the code under test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reports import Reports

ROOT = Path(__file__).resolve().parents[2]
WRITE_FORMATS = ROOT / "build" / "release" / "tests" / "write_formats"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    subprocess.run([WRITE_FORMATS, folder], check=True)
    return folder


@pytest.fixture
def drop(written: Path) -> Reports:
    """An ordinary report: decode costs most."""
    return Reports(written / "drop")


@pytest.fixture
def hostile(written: Path) -> Reports:
    """A report whose texts try to break every format."""
    return Reports(written / "hostile")


@pytest.fixture(params=["drop", "hostile"])
def either(written: Path, request: pytest.FixtureRequest) -> Reports:
    return Reports(written / request.param)
