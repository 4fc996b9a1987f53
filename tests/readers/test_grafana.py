"""The Grafana dashboard asks for metrics and labels that a report has, in expressions that
Prometheus accepts."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from reports import Reports

DASHBOARD = Path(__file__).resolve().parents[2] / "examples" / "grafana" / "cachebisect.json"
METRIC = re.compile(r"cachebisect_\w+")


def dashboard() -> Any:
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def expressions() -> list[str]:
    targets = [target for panel in dashboard()["panels"] for target in panel["targets"]]
    notes = dashboard()["annotations"]["list"]
    return [item["expr"].replace("$pipeline", ".*") for item in targets + notes]


def labels_of(reports: Reports) -> dict[str, set[str]]:
    """Labels by metric."""
    found: dict[str, set[str]] = {}
    for line in reports.text("report.prom").split("\n"):
        if line and not line.startswith("#"):
            found[line.split("{")[0]] = set(re.findall(r'(\w+)="', line))
    return found


def test_each_metric_is_one_of_a_report(drop: Reports) -> None:
    variables = [str(variable["query"]) for variable in dashboard()["templating"]["list"]]
    used = {name for text in expressions() + variables for name in METRIC.findall(text)}
    assert len(used) > 15
    not_measured_in_it = {
        "cachebisect_stage_cpu_seconds_per_sample",
        "cachebisect_stage_wait_seconds_per_sample",
        "cachebisect_stage_busy_ratio",
    }
    assert used - labels_of(drop).keys() == not_measured_in_it


def test_each_label_is_one_of_its_metric(drop: Reports) -> None:
    known = labels_of(drop)
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            metric = next(iter(METRIC.findall(target["expr"])))
            grouped = re.search(r"by \(([^)]*)\)", target["expr"])
            asked = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            asked |= set(re.split(r",\s*", grouped.group(1))) if grouped else set()
            assert asked <= known.get(metric, {"pipeline", "stage"}), target


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The expressions as recording rules."""
    recorded = [{"record": f"e{i}", "expr": text} for i, text in enumerate(expressions())]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    return path


def test_prometheus_accepts_each_expression(rules: Path) -> None:
    check = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
    assert f"{len(expressions())} rules found" in check.stdout


def test_panels_do_not_overlap_and_have_an_id_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not own & cells, panel["title"]
        cells |= own
