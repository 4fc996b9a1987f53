"""Reads samples from the shards of a set. Thread safe; no position in a file is shared."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

from .._cache.entry import Entry
from .archive import key_of, members
from .contents import Contents
from .positions import FILE as POSITIONS
from .positions import OWN_RECIPE, ROW, position
from .recipe import Recipe, from_bytes
from .writing import RECIPE

_KEPT_OPEN = 128
"""Files at most; of a set with more shards, each read opens one."""


class Damaged(Exception):
    """A sample is not there as it was written. The text says what is wrong."""


class Files:
    """Files of a folder, by name; those that were opened are closed with this object."""

    def __init__(self, folder: Path, keeps: bool) -> None:
        self._folder = folder
        self._keeps = keeps
        self._open: dict[str, int] = {}

    def read(self, name: str, offset: int, size: int) -> bytearray:
        """Fewer bytes where the file ends before. Raises OSError."""
        descriptor = self._open.get(name)
        if descriptor is not None:
            return read_at(descriptor, offset, size)
        descriptor = os.open(self._folder / name, os.O_RDONLY | os.O_CLOEXEC)
        if self._keeps and self._open.setdefault(name, descriptor) == descriptor:
            return read_at(descriptor, offset, size)
        try:  # Another thread was faster, or it is not kept.
            return read_at(descriptor, offset, size)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        opened, self._open = self._open, {}
        for descriptor in opened.values():
            os.close(descriptor)

    def __del__(self) -> None:
        try:
            self.close()
        except (OSError, AttributeError, TypeError):  # The interpreter ends.
            pass

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": {}}


class ShardReader:
    """`contents`: of `folder`. `shared`: objects that recipes name by their position."""

    def __init__(self, folder: Path, contents: Contents, shared: list[Any]) -> None:
        self._names = {number: shard.name for number, shard in contents.shards.items()}
        self._sizes = {number: shard.bytes for number, shard in contents.shards.items()}
        self._files = Files(folder, keeps=len(self._names) < _KEPT_OPEN)
        self._shared = shared
        self._stored = contents.recipes
        self._recipes: dict[int, Recipe] = {}

    def entry(self, number: int) -> Entry:
        """Sample `number`, which is the caller's alone. Raises Damaged."""
        try:
            return self._entry(number)
        except Damaged:
            raise
        except OSError as error:
            raise Damaged(f"{error}") from error
        except Exception as error:  # Written by what is installed no more.
            text = f"{type(error).__name__}: {error}"
            raise Damaged(f"sample {number} cannot be read: {text}") from error

    def parts(self, number: int) -> tuple[Recipe, dict[str, memoryview]]:
        """The recipe of sample `number` and its members. Raises as entry(), and OSError."""
        place = position(number, bytes(self._files.read(POSITIONS, ROW * number, ROW)))
        if place is None or place.shard not in self._names:
            raise Damaged(f"the place of sample {number} is missing from {POSITIONS}, or damaged")
        name = self._names[place.shard]
        if place.offset + place.size > self._sizes[place.shard]:
            raise Damaged(f"the place of sample {number} is of another {name}")
        data = self._files.read(name, place.offset, place.size)
        if len(data) != place.size or zlib.crc32(data) != place.crc:
            raise Damaged(f"sample {number} in {name} is not what was written")
        found = members(key_of(number), memoryview(data))
        if place.recipe == OWN_RECIPE:
            return from_bytes(bytes(found.pop(RECIPE)), self._shared), found
        return self.recipe(place.recipe), found

    def recipe(self, number: int) -> Recipe:
        """Raises Damaged, and what unpickling raises."""
        found = self._recipes.get(number)
        if found is None:
            if number not in self._stored:
                raise Damaged(f"recipe {number} is missing")
            found = from_bytes(self._stored[number], self._shared)
            self._recipes[number] = found
        return found

    def close(self) -> None:
        """Closes the files of this process; the next read opens them again."""
        self._files.close()

    def _entry(self, number: int) -> Entry:
        recipe, found = self.parts(number)
        return recipe.entry(found)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recipes": {}}


def read_at(descriptor: int, offset: int, size: int) -> bytearray:
    """Fewer bytes where the file ends before. Raises OSError."""
    data = bytearray(size)
    view = memoryview(data)
    done = 0
    while done < size:
        count = os.preadv(descriptor, [view[done:]], offset + done)
        if count == 0:
            return data[:done]
        done += count
    return data
