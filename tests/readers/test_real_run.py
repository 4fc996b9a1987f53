"""The folder that a real run writes with --out."""

from __future__ import annotations

import csv
import json
import subprocess

import pytest
import yaml
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from reports import Reports
from starved import COMMAND, starved


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp("run")
    words = [COMMAND, "--pipeline", "-", "--budget", "2", "--quiet", "--out", folder]
    subprocess.run(words, input=starved("starved", 250), text=True, check=True)
    return Reports(folder)


def test_promtool_finds_no_fault(run: Reports) -> None:
    with run.path("report.prom").open("rb") as file:
        check = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True)
    assert (check.returncode, check.stdout, check.stderr) == (0, b"", b"")


def test_yaml_has_the_content_of_the_json_report(run: Reports) -> None:
    assert yaml.safe_load(run.text("report.yaml")) == run.json()


def test_the_trace_has_every_block_and_those_of_a_track_do_not_overlap(run: Reports) -> None:
    events = json.loads(run.text("cachebisect.pt.trace.json"))["traceEvents"]
    slices = sorted((e for e in events if e["ph"] == "X"), key=lambda event: event["ts"])
    blocks = run.json()["blocks"]
    assert [e["ts"] for e in slices] == pytest.approx([b["start_seconds"] * 1e6 for b in blocks])
    assert [e["args"]["seconds"] for e in slices] == [b["seconds"] for b in blocks]
    assert [e["dur"] for e in slices] == pytest.approx([b["seconds"] * 1e6 for b in blocks])
    for event, after in zip(slices, slices[1:]):
        assert event["ts"] + event["dur"] <= after["ts"]


def test_csv_has_a_row_per_boundary(run: Reports) -> None:
    with run.path("report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert [row["stage"] for row in rows] == ["", "read", "slow", "collate", "copy"]
    assert float(rows[0]["samples_per_second"]) == run.json()["live"]["samples_per_second"]


def test_tensorboard_reads_every_record(run: Reports) -> None:
    events = EventFileLoader(str(run.path("events.out.tfevents.cachebisect"))).Load()
    tags = [event.summary.value[0].tag for event in events if event.summary.value]
    assert "run/live_samples_per_second" in tags
    assert "block_samples_per_second/0 live" in tags
    assert tags[-1] == "report"
