"""What a folder of shards holds, as its files say it. Thread safe: no state."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from .positions import FILE as POSITIONS

FORMAT = 1
INDEX = "index.json"
"""Of a set that is whole."""
JOURNAL = "progress.jsonl"
"""Of one that is being written: what is common to all samples, then a line for each shard."""


class FolderRefused(RuntimeError):
    """A folder that cannot be used, or holds something else."""


@dataclass(frozen=True)
class Shard:
    """`first`: number of its first sample."""

    number: int
    first: int
    samples: int
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        return shard_name(self.number)


def shard_name(number: int) -> str:
    return f"shard-{number:05d}.tar"


@dataclass(frozen=True)
class About:
    """What all samples have in common. `names`: of all stages; what the first `stages` of them made
    is in the shards. `identity`: a JSON object of what they were made of. `table`: what was
    measured before, as Prepared.to_dict() has it."""

    identity: str
    version: str
    frozen: bool
    names: list[str]
    stages: int
    after: str
    samples: int
    table: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        held = {**vars(self), "identity": json.loads(self.identity)}
        return {"format": FORMAT, "kind": "cachebisect.prepare", **held}


@dataclass
class Contents:
    """`shards` by their numbers; `recipes` by theirs."""

    about: About
    shards: dict[int, Shard] = field(default_factory=dict)
    recipes: dict[int, bytes] = field(default_factory=dict)
    whole: bool = False
    refused: str = ""
    """Why an earlier run has found that the samples cannot be prepared so."""

    @property
    def bytes(self) -> int:
        return sum(shard.bytes for shard in self.shards.values())

    def index(self) -> str:
        """The text of index.json."""
        held = {
            **self.about.to_dict(),
            "bytes": self.bytes,
            "positions": POSITIONS,
            "recipes": encoded_recipes(self.recipes),
            "shards": [shard_line(self.shards[number]) for number in sorted(self.shards)],
        }
        return json.dumps(held, indent=1) + "\n"

    def lines(self) -> Iterator[str]:
        """Those of a journal that says the same."""
        yield json.dumps(self.about.to_dict()) + "\n"
        yield json.dumps({"recipes": encoded_recipes(self.recipes)}) + "\n"
        for number in sorted(self.shards):
            yield json.dumps(shard_line(self.shards[number])) + "\n"


def encoded_recipes(recipes: dict[int, bytes]) -> dict[str, str]:
    return {str(number): base64.b64encode(data).decode() for number, data in recipes.items()}


def shard_line(shard: Shard) -> dict[str, Any]:
    return {"name": shard.name, **vars(shard)}


def read_contents(folder: Path) -> Optional[Contents]:
    """None if `folder` holds no shards of this program. A set that is being mended is read as one
    that is being written. Raises FolderRefused."""
    try:
        journal = _read(folder / JOURNAL)
        if journal is not None:
            lines = [_object(line) for line in journal.split("\n")[:-1]]
            return _contents(lines[0] if lines else {}, lines[1:])
        index = _read(folder / INDEX)
        if index is None:
            return None
        held = _object(index)
        found = _contents(held, [{"recipes": held["recipes"]}, *held["shards"]])
        found.whole = True
        return found
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"{type(error).__name__}: {error}"
        raise FolderRefused(
            f"{folder} cannot be read: {text}. Remove it, and prepare once more"
        ) from error


def _contents(held: dict[str, Any], lines: Iterable[dict[str, Any]]) -> Contents:
    if held.get("kind") != "cachebisect.prepare":
        raise ValueError("it is of another program, or damaged")
    if held["format"] != FORMAT:
        raise ValueError(f"it has format {held['format']}, and this program reads {FORMAT}")
    fields = {name: held[name] for name in About.__dataclass_fields__}
    contents = Contents(About(**{**fields, "identity": json.dumps(held["identity"])}))
    for line in lines:
        for number, text in line.get("recipes", {}).items():
            contents.recipes[int(number)] = base64.b64decode(text, validate=True)
        contents.refused = line.get("refused", contents.refused)
        if "sha256" in line:
            shard = Shard(**{name: line[name] for name in Shard.__dataclass_fields__})
            contents.shards[shard.number] = shard
    return contents


def _object(text: str) -> dict[str, Any]:
    """Nothing for a line that is damaged: its shard is written anew."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderRefused(f"{path} cannot be read: {error}") from error
