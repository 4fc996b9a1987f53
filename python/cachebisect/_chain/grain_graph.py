"""A pipeline of Grain: its transformations, and copies of it with others in their places.

Datasets of Grain do not change once they are made. A copy has datasets of its own, and shares their
sources and functions. Grain is used if the program has imported it. Not thread safe.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

from .grain_names import ingredients_of, is_quiet
from .sharing import attributes, cannot_begin_twice

Around = Callable[[Any, Any], Any]
"""What takes the place of a copy of a dataset, by the dataset and the copy."""

_KINDS = ("MapDataset", "IterDataset", "DataLoader")
_PARENTS = "_parents"
_MOST = 1000


def graph_of_grain(made_from: Iterable[Any]) -> Optional[GrainGraph]:
    """The pipeline of the Dataset or DataLoader of Grain in `made_from`; None if there is none.
    Never raises."""
    grain = sys.modules.get("grain")
    kinds: Any = tuple(getattr(grain, name, None) for name in _KINDS)
    if None in kinds:
        return None
    for value in made_from:
        if isinstance(value, kinds):
            try:
                return GrainGraph(value, kinds)
            except Exception:  # Another version, or a class of the user's own.
                return None
    return None


class GrainGraph:
    """`opened`: what the script iterates. `kinds`: MapDataset, IterDataset and DataLoader. Raises
    what its datasets raise."""

    def __init__(self, opened: Any, kinds: Sequence[Any]) -> None:
        map_dataset, _, data_loader = kinds
        self.name = type(opened).__name__
        root = vars(opened)["_dataset"] if isinstance(opened, data_loader) else opened
        self.root = root.to_iter_dataset() if isinstance(root, map_dataset) else root
        """What makes the batches."""
        members = members_of(self.root)
        self.processes = next((m for m in reversed(members) if shards_of(m)), None)
        """The member that takes its items from other processes; None: there is none."""
        at = -1 if self.processes is None else members.index(self.processes)
        self.outside = members[at:] if at >= 0 else members
        """Those of the training process, from the first on."""
        self.inside: list[Any] = []
        """Those of other processes."""
        if self.processes is not None:
            self.inside = members_of(worked_on(shards_of(self.processes)[0]))

    @property
    def members(self) -> list[Any]:
        """From the source on."""
        return [*self.inside, *self.outside]

    @functools.cached_property
    def why_not(self) -> str:
        """Why its stages cannot be measured one by one, in words; empty: they can."""
        members = self.members
        cache = [m for m in members if type(m).__name__ == "CacheIterDataset"]
        if cache:
            return "it keeps the items of its first epoch (CacheIterDataset)"
        if any(shards_of(member) for member in self.inside):
            return "its processes have processes"
        if len(members) > _MOST:
            return f"it has {len(members)} members"
        if cannot_begin_twice(None, self.sources()):
            return "it reads from something that gives each item once"
        return ""

    def sources(self) -> list[Any]:
        """What the datasets were made with, which a copy shares: data sources and functions."""
        found = [part for member in self.members for part in ingredients_of(member)]
        return list({id(part): part for part in found}.values())

    def ingredients(self) -> list[Any]:
        """The same, and the attributes of these."""
        near = self.sources()
        return [*near, *(part for value in near for part in attributes(value))]


def parents_of(dataset: Any) -> list[Any]:
    """Datasets that it takes its items from."""
    return list(getattr(dataset, _PARENTS, ()))


def members_of(root: Any) -> list[Any]:
    """From the source to `root`. A dataset that takes from several others counts as the source."""
    found = [root]
    while len(before := parents_of(found[-1])) == 1 and len(found) <= 10 * _MOST:
        found.append(before[0])
    return found[::-1]


def shards_of(dataset: Any) -> list[Any]:
    """The datasets of processes that it takes its items from; none: of this process."""
    kind = type(dataset).__name__
    if kind == "ProcessPrefetchIterDataset":
        return [dataset]
    if kind != "InterleaveIterDataset":
        return []
    inside = vars(dataset).get("_datasets")
    few = inside if isinstance(inside, (list, tuple)) else ()
    are_processes = [type(one).__name__ == "ProcessPrefetchIterDataset" for one in few]
    return list(few) if any(are_processes) and all(are_processes) else []


def worked_on(shard: Any) -> Any:
    """The dataset that all processes work on, each on its slice."""
    below = parents_of(shard)[0]
    while type(below).__name__ in ("_MpContextIterDataset", "_LazyWorkerSliceIterDataset"):
        below = parents_of(below)[0]
    return below


def with_work(shard: Any, work: Any) -> Any:
    """A copy of `shard` that works on `work`."""
    [below] = parents_of(shard)
    if type(below).__name__ in ("_MpContextIterDataset", "_LazyWorkerSliceIterDataset"):
        return copied(shard, [with_work(below, work)])
    return copied(shard, [work])


def copied(dataset: Any, parents: Sequence[Any], **changes: Any) -> Any:
    """A copy of `dataset` with other parents and attributes, and nothing that it has computed."""
    made = copy.copy(dataset)
    names, kind = vars(made), type(made)
    for name in list(names):
        if isinstance(getattr(kind, name, None), functools.cached_property):
            del names[name]
    if parents:
        names[_PARENTS] = tuple(parents)
    names.update(changes)
    return made


def copy_of(members: Sequence[Any], around: Around) -> Any:
    """The root of a copy of `members`, which are in order."""
    made: Any = None
    for member in members:
        made = around(member, copied(member, [] if made is None else [made]))
    return made


def stages_of(members: Sequence[Any]) -> list[list[Any]]:
    """The members of each stage. What does no work of its own belongs to the stage before it."""
    stages: list[list[Any]] = []
    for member in members:
        if stages and is_quiet(member):
            stages[-1].append(member)
        else:
            stages.append([member])
    return stages


def workers_of(stage: Sequence[Any]) -> list[Any]:
    """The members that a stage is named by."""
    return [member for member in stage if not is_quiet(member)] or [stage[0]]
