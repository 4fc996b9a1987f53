"""After which stage a dataset is prepared, and what it is of. Not thread safe."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .._cache.choice import WHOLE, Choice, choose_from
from .._cache.examined import Examined, Findings, examine
from .._cache.identity import difference, identity
from .._chain.slots import datasets_within
from .._worker.kept_random import KeptRandom
from .contents import About, FolderRefused
from .measured import Measured, free_bytes


@dataclass
class Asked:
    """Arguments of prepare()."""

    after: Optional[str]
    frozen: bool
    version: str


def plan(dataset: Any, folder: Path, asked: Asked, before: Optional[About]) -> tuple[Choice, About]:
    """To be run in a child process. `before`: of what the folder holds.

    Raises NotCacheable, FolderRefused; what the dataset raises.
    """
    shared = datasets_within(dataset)
    with KeptRandom():
        found = examine(dataset)
        after = asked.after
        if after is None and before is not None:
            after = name_after(found.names, before, folder)
        count = len(dataset)
        choice = choose_from(found, count, shared, after, asked.frozen, free_bytes(folder))
        examined = found.examined
        known = None if before is None else before.table
        table = known or _table(dataset, shared, found, choice, folder)
        held = content_of(dataset, examined, choice.stages, asked.version)
    about = About(
        held, asked.version, asked.frozen, choice.names, choice.stages, choice.after, count, table
    )
    if before is not None:
        check_same(before, about, folder)
    return choice, about


def content_of(dataset: Any, examined: Examined, stages: int, version: str) -> str:
    """As cached() has it, but for the version of this program: that of the format counts.

    Makes a sample. Raises what the dataset raises.
    """
    held = json.loads(identity(dataset, examined.slots[:stages], version, lambda: dataset[0]))
    del held["cachebisect"]
    return json.dumps(held, sort_keys=True)


def check_same(before: About, now: About, folder: Path) -> None:
    """Raises FolderRefused, with what differs."""
    what = None
    if before.stages != now.stages or before.names[: now.stages] != now.names[: now.stages]:
        what = f"of samples after {before.after}, not {now.after}"
    elif before.identity != now.identity:
        what = difference(before.identity, now.identity)
    elif before.frozen != now.frozen:
        what = f"prepared with frozen={before.frozen}"
    if what is not None:
        raise FolderRefused(f"{folder} is {what}: remove it, or take another folder")


def _table(
    dataset: Any, shared: list[Any], found: Findings, choice: Choice, folder: Path
) -> dict[str, Any]:
    tried = sorted({*range(1, found.same_stages + 1), choice.stages})
    measured = Measured(dataset, shared, found.examined, folder)
    rows, live = measured.boundaries(tried)
    return {
        "boundaries": [vars(row) for row in rows],
        "live_samples_per_second": live,
        "free_bytes": float(free_bytes(folder)),
    }


def name_after(names: list[str], before: About, folder: Path) -> str:
    """The stage behind which `before` is, as choose_from() takes it. Raises FolderRefused."""
    stages = before.stages
    if names[:stages] != before.names[:stages]:
        now = ", ".join(names) or "none"
        raise FolderRefused(
            f"{folder} is of other stages: it has samples after {before.after} of "
            f"{', '.join(before.names) or 'none'}, and the stages are {now}"
        )
    return WHOLE if stages == len(names) else names[stages - 1]
