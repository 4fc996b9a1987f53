"""Whether a store holds what this dataset makes. Not thread safe."""

from __future__ import annotations

from typing import Any

from .._worker.kept_random import KeptRandom
from .choice import Choice, decode_entry
from .entry import NotCacheable
from .examined import Examined
from .identity import difference, identity
from .reference import reference
from .sqlite_file import Broken
from .store import Store

_COMPARED = 8
"""Samples of an earlier run that are made anew and compared."""


def check_contents(
    store: Store,
    dataset: Any,
    shared: list[Any],
    examined: Examined,
    choice: Choice,
    version: str,
    frozen: bool,
) -> None:
    """Raises RuntimeError or NotCacheable if what is stored is not of this dataset."""
    with KeptRandom():
        slots = examined.slots[: choice.stages]
        wanted = identity(dataset, slots, version, lambda: dataset[0])
    try:
        found = store.describe("identity", wanted)
        if found != wanted:
            what = difference(found, wanted)
            raise RuntimeError(
                f"cached: {store.path} is {what}: remove its folder, or take another one"
            )
        why = store.about("refused")
        if why is not None:
            raise NotCacheable(
                f"{why} (found by an earlier run; remove the folder of {store.path})"
            )
        if not frozen:
            _compare(store, shared, examined, choice)
    except Broken as error:
        raise RuntimeError(f"cached: {error}") from error
    finally:
        store.close()


def _compare(store: Store, shared: list[Any], examined: Examined, choice: Choice) -> None:
    keys = store.keys()
    for key in keys[:: max(1, len(keys) // _COMPARED)][:_COMPARED]:
        data = store.get(key)
        entry = None if data is None else decode_entry(data, shared, choice.later)
        if entry is not None and key.isdigit():
            with KeptRandom():
                reference(examined, int(key), frozen=False).check(entry)
