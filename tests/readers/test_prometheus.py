"""report.prom, read by promtool."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from reports import Reports

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SAMPLE = re.compile(r'^cachebisect_[a-z_]+\{(?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+\} \S+$')


def test_promtool_finds_no_fault(either: Reports) -> None:
    with either.path("report.prom").open("rb") as file:
        check = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True)
    assert (check.returncode, check.stdout, check.stderr) == (0, b"", b"")


def test_promtool_would_find_a_fault() -> None:
    check = subprocess.run(
        ["promtool", "check", "metrics"], input=b'x{stage="a"b"} 1\n', capture_output=True
    )
    assert check.returncode != 0


def test_each_line_is_one_sample_of_a_metric(either: Reports) -> None:
    for line in either.text("report.prom").split("\n"):
        assert not line or line.startswith("# ") or SAMPLE.match(line), line


@pytest.mark.parametrize(
    "sample",
    [
        'cachebisect_live_samples_per_second{pipeline="photos"} 1000',
        'cachebisect_stage_drop_ratio{pipeline="photos",stage="decode"} 0.592741935483871',
        'cachebisect_verdict_info{pipeline="photos",kind="drop",stage="decode"'
        ',fix_first="decode"} 1',
        'cachebisect_warnings{pipeline="photos",code="generated_data"} 1',
        'cachebisect_run_timestamp_seconds{pipeline="photos"} 1767323045',
    ],
)
def test_it_has_the_figures(drop: Reports, sample: str) -> None:
    assert sample in drop.text("report.prom").split("\n")


def test_the_alerts_fire_when_they_should() -> None:
    check = subprocess.run(
        ["promtool", "test", "rules", HERE / "alerts_test.yml"], capture_output=True, text=True
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_alerts_ask_for_metrics_of_a_report(drop: Reports) -> None:
    rules = ROOT / "examples" / "prometheus" / "cachebisect.rules.yml"
    used = set(re.findall(r"cachebisect_\w+", rules.read_text(encoding="utf-8")))
    written = set(re.findall(r"^cachebisect_\w+", drop.text("report.prom"), re.MULTILINE))
    assert used <= written
