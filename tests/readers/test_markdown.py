"""report.md, read by markdown-it-py with the tables of GitHub and raw HTML switched on."""

from __future__ import annotations

import json
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reports import Reports

EXPECTED_INLINE = {"text", "text_special", "strong_open", "strong_close"}
TITLES = [
    "Stages, live",
    "What was tried",
    "Things to try",
    "Warnings",
    "What was run",
    "The pipeline with its defaults",
]


def tokens(reports: Reports) -> list[Token]:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return reader.parse(reports.text("report.md"))


def text_of(token: Token) -> str:
    return "".join(child.content for child in token.children or [])


def tables(reports: Reports) -> list[list[list[str]]]:
    """Cells by table and row."""
    found: list[list[list[str]]] = []
    read = tokens(reports)
    for token, after in zip(read, read[1:]):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(text_of(after))
    return found


def test_its_headings_are_those_of_the_page(either: Reports) -> None:
    read = tokens(either)
    headings = [text_of(after) for token, after in zip(read, read[1:]) if token.tag == "h3"]
    assert [heading for heading in headings if heading] == TITLES
    assert sum(token.type == "heading_open" for token in read) == 1 + len(TITLES)


def test_no_text_of_the_report_is_markup(either: Reports) -> None:
    for token in tokens(either):
        assert token.type != "html_block"
        for child in token.children or []:
            assert child.type in EXPECTED_INLINE, child
    strong = [c for t in tokens(either) for c in t.children or [] if c.type == "strong_open"]
    assert len(strong) == 1


def test_each_table_has_its_rows_and_columns(either: Reports) -> None:
    report = either.json()
    boundaries, stages, tried, run = tables(either)
    assert len(boundaries) == 1 + len(report["boundaries"])
    assert len(stages) == 1 + len(report["stages"])
    assert len(tried) == 1 + len(report["what_ifs"])
    for table in (boundaries, stages, tried, run):
        assert {len(row) for row in table} == {len(table[0])}


def test_cells_hold_the_figures(drop: Reports) -> None:
    boundaries, stages, tried, _ = tables(drop)
    assert boundaries[1][:4] == ["step alone (ceiling)", "2,500", "2,475 - 2,525", "100%"]
    assert boundaries[5][0] == "+ read = live"
    assert stages[2][0] == "decode"
    assert tried[1][:3] == ["workers=4", "1,980 (1,950 - 2,010)", "1,992 (1,981 - 2,003)"]


def test_the_pipeline_is_one_block_of_json(either: Reports) -> None:
    fences = [token for token in tokens(either) if token.type == "fence"]
    effective: Any = json.loads(fences[-1].content)
    assert fences[-1].info == "json"
    assert effective == either.json()["pipeline"]["effective"]


def test_what_to_try_is_code_to_copy(drop: Reports) -> None:
    fences = [token.content for token in tokens(drop) if token.type == "fence"]
    assert fences[0] == "--workers 6\nin the file: /workers = 6\n"
