"""What the shards of a folder are to a dataset as it is now. Not thread safe.

Stages behind the boundary may have changed since the samples were written: what is in the shards is
then put together by new recipes, which are learnt from a few samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

from .._cache.choice import Choice, choose
from .._cache.entry import Entry, NotCacheable, cut_after
from .._cache.examined import Examined, examine
from .._cache.reference import reference
from .._chain.slots import datasets_within
from .._worker.kept_random import KeptRandom
from .contents import Contents
from .measured import spread
from .plan import check_same, content_of, name_after
from .reader import Damaged, ShardReader
from .recipe import Recipe, from_bytes, split, to_bytes

_COMPARED = 8
"""Samples that are made anew and compared."""


@dataclass
class Opened:
    """`recipes`: those by which the samples are put together now."""

    choice: Choice
    recipes: dict[int, bytes]


def open_set(dataset: Any, folder: Path, contents: Contents) -> Opened:
    """To be run in a child process. Raises FolderRefused, NotCacheable; what the dataset raises."""
    shared = datasets_within(dataset)
    before = contents.about
    with KeptRandom():
        after = name_after(examine(dataset).names, before, folder)
        choice, examined = choose(dataset, shared, after, before.frozen, float("inf"))
        held = content_of(dataset, examined, choice.stages, before.version)
        now = replace(before, identity=held, names=choice.names, stages=choice.stages)
        check_same(before, now, folder)
        reader = ShardReader(folder, contents, shared)
        numbers = spread(before.samples, _COMPARED)
        recipes = contents.recipes
        if choice.names != before.names:
            recipes = _relearnt(reader, contents, choice, examined, shared, numbers)
            reader = ShardReader(folder, replace(contents, recipes=recipes), shared)
        if not before.frozen:
            _compare(reader, examined, choice, numbers)
    return Opened(choice, recipes)


def _compare(reader: ShardReader, examined: Examined, choice: Choice, numbers: list[int]) -> None:
    for number in numbers:
        try:
            entry = reader.entry(number)
        except Damaged:  # It is made by the dataset when it is read.
            continue
        if entry.later == tuple(choice.later):
            reference(examined, number, frozen=False).check(entry)


def _relearnt(
    reader: ShardReader,
    contents: Contents,
    choice: Choice,
    examined: Examined,
    shared: list[Any],
    numbers: list[int],
) -> dict[int, bytes]:
    """The recipes for the stages of now; those whose structure no sample of `numbers` has stay."""
    learnt: list[tuple[Entry, Entry]] = []
    for number in numbers:
        try:
            old, _ = reader.parts(number)
        except (Damaged, OSError):
            continue
        tape = examined.tape(number)
        new, _ = split(cut_after(tape, choice.stages, choice.names))
        _check_members(old, new, number)
        known = _learnt(learnt, old.skeleton)
        if known is None:
            learnt.append((old.skeleton, new.skeleton))
        elif known != new.skeleton:
            raise NotCacheable(
                f"the stages behind {choice.after} have changed, and are not called alike for all "
                "samples: prepare once more, in another folder"
            )
    recipes = {}
    for number, data in contents.recipes.items():
        old = from_bytes(data, shared)
        skeleton = _learnt(learnt, old.skeleton)
        recipes[number] = (
            data if skeleton is None else to_bytes(Recipe(skeleton, old.kinds), shared)
        )
    return recipes


def _check_members(old: Recipe, new: Recipe, number: int) -> None:
    for name, kind in new.kinds.items():
        if old.kinds.get(name) != kind:
            raise NotCacheable(
                f"the stages behind the prepared samples have changed, and need {name} of sample "
                f"{number}, which is not in the shards: prepare once more, in another folder"
            )


def _learnt(learnt: list[tuple[Entry, Entry]], skeleton: Entry) -> Optional[Entry]:
    return next((new for old, new in learnt if old == skeleton), None)
