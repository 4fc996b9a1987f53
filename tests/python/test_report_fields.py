"""The names of the report's fields in Python are those of its schema, and so are their types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cachebisect._report import Report, Verdict

SCHEMA = Path(__file__).resolve().parents[2] / "docs/schema/report.schema.json"
_TYPES = {"string": "str", "integer": "int", "number": "float", "object": "dict[str, Any]"}


def annotation(schema: dict[str, Any]) -> str:
    """The type of a field, as Python's source has it."""
    if "enum" in schema:
        return "str"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (kind,) = (name for name in types if name != "null")
    own = f"list[{annotation(schema['items'])}]" if kind == "array" else _TYPES[kind]
    return f"Optional[{own}]" if "null" in types else own


def test_a_verdict_has_the_fields_of_the_schema() -> None:
    fields = json.loads(SCHEMA.read_text())["properties"]["verdict"]["properties"]
    assert Verdict.__annotations__ == {name: annotation(fields[name]) for name in fields}


def test_fields_are_those_of_the_report_alone() -> None:
    verdict = Report({"verdict": {"kind": "flat", "stage": None}}, {}).verdict
    assert verdict.kind == "flat" and verdict.stage is None
    with pytest.raises(AttributeError, match="no field 'drop'; there are kind, stage"):
        _ = verdict.drop
    assert repr(verdict) == "Verdict({'kind': 'flat', 'stage': None})"
