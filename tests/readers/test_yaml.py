"""report.yaml, read by PyYAML."""

from __future__ import annotations

import yaml

from reports import Reports


def test_it_has_the_content_of_the_json_report(either: Reports) -> None:
    assert yaml.safe_load(either.text("report.yaml")) == either.json()
