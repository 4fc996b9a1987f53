"""Reads the part of YAML that action.yml is written in, for environments without PyYAML.

Mappings and sequences by indentation, literal blocks (`|`), plain and single-quoted scalars on one
line; a flow mapping stays a text. Anything else is a ValueError, so that nothing is misread.
"""

from __future__ import annotations

import re
from typing import Any

KEY = re.compile(r"([A-Za-z][\w-]*):(?: +(.*))?$")


class _Lines:
    def __init__(self, text: str) -> None:
        kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        self.left = [line.rstrip() for line in kept]
        self.skip_blank()

    def skip_blank(self) -> None:
        while self.left and not self.left[0]:
            self.left.pop(0)

    def indent(self) -> int:
        """That of the next line; -1 at the end."""
        return len(self.left[0]) - len(self.left[0].lstrip()) if self.left else -1

    def block(self, parent: int) -> str:
        """The lines of a literal block, with one line end after the last."""
        indent = self.indent()
        taken = []
        while self.left and (not self.left[0] or self.indent() > parent):
            taken.append(self.left.pop(0)[indent:])
        return "\n".join(taken).rstrip("\n") + "\n"


def _scalar(text: str) -> str:
    if text.startswith("'"):
        if not re.fullmatch(r"'(?:[^']|'')*'", text):
            raise ValueError(f"not one quoted text: {text}")
        return text[1:-1].replace("''", "'")
    flow = text.startswith("{") and text.endswith("}")
    if text[0] in '"|>&*!%@`[' or " #" in text or (": " in text and not flow):
        raise ValueError(f"not a plain text: {text}")
    return text


def _mapping(lines: _Lines, indent: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while lines.indent() == indent and not lines.left[0].lstrip().startswith("- "):
        match = KEY.match(lines.left.pop(0).lstrip())
        if match is None or match[1] in found:
            raise ValueError("not a new key, a colon and a value")
        if match[2] == "|":
            found[match[1]] = lines.block(indent)
        elif match[2]:
            found[match[1]] = _scalar(match[2])
        else:
            lines.skip_blank()
            found[match[1]] = _value(lines, indent)
        lines.skip_blank()
    return found


def _value(lines: _Lines, parent: int) -> Any:
    indent = lines.indent()
    if indent <= parent:
        raise ValueError("a key without a value")
    if not lines.left[0].lstrip().startswith("- "):
        return _mapping(lines, indent)
    items = []
    while lines.indent() == indent and lines.left[0].lstrip().startswith("- "):
        lines.left[0] = lines.left[0].replace("- ", "  ", 1)
        items.append(_mapping(lines, lines.indent()))
    return items


def read_yaml(text: str) -> Any:
    lines = _Lines(text)
    found = _value(lines, -1)
    if lines.left:
        raise ValueError(f"what is this: {lines.left[0]}")
    return found
