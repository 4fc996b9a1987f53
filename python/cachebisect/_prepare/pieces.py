"""A sample of a dataset as a piece of a shard. Not thread safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .._cache.choice import Choice
from .._cache.entry import Entry, NotCacheable, cut_after
from .._cache.examined import RECORDED, Examined
from .._cache.reference import reference
from .._chain.slots import datasets_within
from .._worker.kept_random import KeptRandom
from .archive import key_of, members, record
from .recipe import Recipe, from_bytes, split, to_bytes

CHECKED = 64
"""One of so many samples is made again and compared with what would be read."""


class SampleFailed(Exception):
    """`error`: what the dataset raised for sample `index`."""

    def __init__(self, index: int, error: BaseException) -> None:
        super().__init__(index, error)
        self.index = index
        self.error = error


@dataclass
class Piece:
    """`number`: of the sample."""

    number: int
    recipe: bytes
    data: bytes
    """Its members, as they lie in the archive."""


class Pieces:
    """`dataset`, whose samples are stored after the first stages of `choice`."""

    def __init__(self, dataset: Any, choice: Choice, frozen: bool) -> None:
        self._dataset = dataset
        self._choice = choice
        self._frozen = frozen
        self._shared = datasets_within(dataset)
        self._examined: Optional[Examined] = None

    def make(self, number: int) -> Piece:
        """Raises what the dataset raises; NotCacheable if the sample would not be read as it is
        made."""
        if self._examined is None:
            choice = self._choice
            self._examined = Examined(self._dataset, choice.names, choice.copies)
        tape = (
            self._examined.watched(number, RECORDED)[0]
            if self._frozen
            else self._examined.tape(number)
        )
        entry = cut_after(tape, self._choice.stages, self._choice.names)
        piece = piece_of(number, entry, self._choice.after, self._shared)
        if number % CHECKED == 0 and not self._frozen:
            with KeptRandom():
                now = reference(self._examined, number, frozen=False)
                now.check(entry_of(piece, self._shared))
        return piece


def piece_of(number: int, entry: Entry, after: str, shared: list[Any]) -> Piece:
    """Raises NotCacheable for what cannot be stored."""
    try:
        recipe, parts = split(entry)
        data = record(key_of(number), [(part.name, part.data) for part in parts])
        return Piece(number, to_bytes(recipe, shared), data)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise NotCacheable(f"what is there after {after} cannot be stored: {text}") from error


def entry_of(piece: Piece, shared: list[Any]) -> Entry:
    """What is read of it."""
    recipe = from_bytes(piece.recipe, shared)
    return read_entry(piece.number, recipe, memoryview(bytearray(piece.data)))


def read_entry(number: int, recipe: Recipe, data: memoryview) -> Entry:
    """`data`: of a Piece, which can be written to. Raises for anything else."""
    return recipe.entry(members(key_of(number), data))
