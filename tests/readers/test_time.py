"""The files of `cachebisect time`, read by PyYAML, Python's csv and Pillow."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from starved import COMMAND, starved

BATCHES = 24
HOSTILE = "a\"'</script>: - =cmd|`id` %s {b}\u2028\u00e9"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("time")
    words = [COMMAND, "time", "--pipeline", "-", "--save-dir", path, "--max-batches", str(BATCHES)]
    subprocess.run(words, input=starved(HOSTILE, 300), text=True, check=True)
    return path


def summary(folder: Path) -> Any:
    return yaml.safe_load((folder / "timing_summary.yaml").read_text(encoding="utf-8"))


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "timing_results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_summary_has_the_planted_times(folder: Path) -> None:
    found = summary(folder)
    assert found["name"] == HOSTILE
    run = found["runs"][0]
    assert run["batches"] == BATCHES
    assert run["ended_by"] == "max_batches"
    assert run["parts"]["step"]["mean_seconds"] == pytest.approx(0.002, rel=1e-6)
    assert run["parts"]["load"]["share"] > 0.3
    shares = [part["share"] for name, part in run["parts"].items() if name != "total"]
    assert sum(shares) == pytest.approx(1)
    assert run["findings"][0]["code"] == "load_share"
    assert run["timing_cost"]["call_seconds"] > 0


def test_the_rows_add_up_to_the_summary(folder: Path) -> None:
    found = rows(folder)
    run = summary(folder)["runs"][0]
    assert [int(row["batch"]) for row in found] == list(range(BATCHES))
    for row in found:
        parts = [row[f"{name}_seconds"] for name in run["parts"] if name != "total"]
        assert sum(map(float, parts)) == pytest.approx(float(row["total_seconds"]))
        assert row["forward_seconds"] == ""
    mean = sum(float(row["total_seconds"]) for row in found) / BATCHES
    assert mean == pytest.approx(run["parts"]["total"]["mean_seconds"])


def test_the_configuration_is_the_effective_pipeline(folder: Path) -> None:
    config = yaml.safe_load((folder / "benchmark_config.yaml").read_text(encoding="utf-8"))
    assert config["name"] == HOSTILE
    assert config["stages"][1]["us"] == 300
    assert config["prefetch"] == 2  # a default


@pytest.mark.parametrize(
    "name", ["batch_time_breakdown.png", "total_batch_time.png", "time_distribution_pie.png"]
)
def test_the_pictures_are_pictures(folder: Path, name: str) -> None:
    with Image.open(folder / name) as picture:
        picture.load()
        assert picture.size == (1200, 675)
        assert len(picture.convert("RGB").getcolors(1 << 20) or []) > 3
