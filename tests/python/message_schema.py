"""What adapters answer, held against docs/schema/messages.schema.json, in which unknown fields are
mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "docs/schema/messages.schema.json").read_text()
)["definitions"]

_PARTS: dict[str, tuple[Optional[str], ...]] = {
    "hello": (None,), "sizes": (None,), "describe": (None, "chain"), "inside": ("chain",),
    "prepare": ("cache",), "refill": ("cache",), "storage": ("storage",), "run": ("block",),
}  # fmt: skip
"""The members of an answer that have a definition; None: what else it says."""

_FREE = ("advice",)
"""Objects whose fields have any name."""

_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),), "boolean": (bool,), "string": (str,), "array": (list,),
    "object": (dict,), "integer": (int,), "number": (int, float),
}  # fmt: skip


def parts_of(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names of definitions, and what an answer says of each."""
    kind = str(message["type"])
    members = _PARTS.get(kind, ())
    for member in members:
        if member is None:
            known = ("id", "type", *members)
            yield kind, {name: message[name] for name in message if name not in known}
        elif (part := message.get(member)) is not None and part.get("loader") != "none":
            yield member, part


def check(message: dict[str, Any]) -> None:
    """Raises AssertionError that names each wrong field of an answer."""
    for name, value in parts_of(message):
        assert not (found := list(mistakes(value, SCHEMA[name], name))), found


def mistakes(value: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """What is wrong with `value`."""
    types = schema.get("type", [])
    allowed = types if isinstance(types, list) else [types]
    if allowed and not any(_has_type(value, name) for name in allowed):
        yield f"{place} is {value!r}, not {allowed}"
    elif value not in schema.get("enum", [value]):
        yield f"{place} is {value!r}, not of {schema['enum']}"
    elif isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        missing = [name for name in schema["required"] if name not in value]
        yield from (f"{place}.{name} is missing" for name in missing)
        yield from (f"{place}.{name} is unknown" for name in value if name not in known)
        for name in value.keys() & known.keys():
            yield from mistakes(value[name], known[name], f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from mistakes(item, schema.get("items", {}), f"{place}[]")


def names_in_schema(schema: dict[str, Any], prefix: str = "") -> set[str]:
    """All fields, those of objects and of items as "stages.name"."""
    found = set()
    for name, field in schema.get("properties", {}).items():
        nested = field.get("items", field)
        found |= {prefix + name, *names_in_schema(nested, f"{prefix}{name}.")}
    return found


def names_in(value: dict[str, Any], prefix: str = "") -> set[str]:
    """All fields of an answer, in the same way."""
    found = set()
    for name, field in value.items():
        found.add(prefix + name)
        for one in field if isinstance(field, list) else [field]:
            if isinstance(one, dict) and name not in _FREE:
                found |= names_in(one, f"{prefix}{name}.")
    return found


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])
