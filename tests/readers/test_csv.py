"""report.csv, read by Python's csv module."""

from __future__ import annotations

import csv

from reports import Reports


def rows(reports: Reports) -> list[dict[str, str]]:
    with reports.path("report.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_it_has_a_row_per_boundary_with_the_figures_of_the_json_report(either: Reports) -> None:
    report = either.json()
    found = rows(either)
    assert len(found) == len(report["boundaries"])
    for row, boundary in zip(found, report["boundaries"]):
        assert None not in row and None not in row.values()
        assert int(row["boundary"]) == boundary["index"]
        assert float(row["samples_per_second"]) == boundary["samples_per_second"]
        assert float(row["samples_per_second_low"]) == boundary["interval"][0]
    for row, stage in zip(found[1:], report["stages"]):
        assert float(row["drop"]) == stage["drop"]
        assert float(row["drop_high"]) == stage["drop_interval"][1]
        assert row["certified"] == str(stage["certified"]).lower()


def test_what_is_unknown_is_an_empty_cell(drop: Reports) -> None:
    assert [row["payoff_samples_per_second"] for row in rows(drop)] == ["", "", "2400", "", ""]


def test_no_cell_is_a_formula(hostile: Reports) -> None:
    for row in rows(hostile):
        for name in ("pipeline", "device", "stage", "type"):
            assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r"))
            assert "\n" not in row[name]
    assert rows(hostile)[4]["stage"] == "'+cmd|' /C calc'!A0"
