"""The stages that a pipeline of Grain is: one for each transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .description import Chain
from .grain_graph import GrainGraph, shards_of, stages_of, workers_of
from .grain_names import is_random, joins, name_of, repeats_itself, threads_of, type_of
from .grouped_chain import Naming, chain_of_groups

_DRAWS = (
    "random numbers were drawn while samples were made, and not by a random_map: whether samples "
    "are the same in each epoch is not known"
)


_LINES = {
    "prepare": "ArrayRecordWriter(path)  # once; then grain.sources.ArrayRecordDataSource(path)",
    "ahead": "grain.experimental.ThreadPrefetchIterDataset(dataset, prefetch_buffer_size=2)",
}
"""Lines of code by the engine's id of a remedy."""


def chain_of_grain(
    groups: Sequence[Sequence[Any]],
    outputs: Sequence[str],
    on_device: bool,
    made_there: bool,
    drew: bool,
) -> Chain:
    """As chain_of_groups(). `drew`: random numbers of the process were drawn meanwhile."""
    naming = Naming(name_of_member, type_of_member, joins)
    own = [workers_of(group) for group in groups]
    chain = chain_of_groups(own, outputs, on_device, made_there, naming)
    chain.lines.update(_LINES)
    same = not drew
    for stage, group in zip(chain.stages, groups):
        stage.random = any(map(is_random, group))
        same = same and all(map(repeats_itself, group)) and not stage.random
        stage.cacheable = same
    if drew:
        chain.notes.append(_DRAWS)
    return chain


def name_of_member(member: Any) -> str:
    """What it is called, and of other processes how many there are."""
    shards = shards_of(member)
    if not shards:
        return name_of(member)
    ahead = sum(int(vars(shard).get("_buffer_size", 1)) for shard in shards)
    return f"mp_prefetch ({len(shards)} processes, look-ahead {ahead})"


def type_of_member(member: Any) -> str:
    """ "category.name" of docs/extend/protocol.md."""
    return "node.mp_prefetch" if shards_of(member) else type_of(member)


def notes_of_grain(graph: GrainGraph) -> list[str]:
    """What to know of its stages."""
    notes = [
        *(_note_of_threads(stage, " in each process") for stage in stages_of(graph.inside)),
        *(_note_of_threads(stage, "") for stage in stages_of(graph.outside)),
    ]
    notes = [note for note in notes if note]
    if graph.processes is not None:
        count = len(shards_of(graph.processes))
        notes.append(f"measuring starts a second set of processes: {count}")
    if graph.processes is not None or notes:
        notes.append(
            f"stages of {graph.name} run at the same time, in threads or processes: one that is "
            "slower than another hides it. What fixing one alone would give tells more than what "
            "it costs"
        )
    first = graph.members[0]
    if hasattr(first, "_datasets") or len(getattr(first, "_parents", ())) > 1:
        notes.append(f"{name_of(first)} takes items from several datasets: they are one source")
    return notes


def _note_of_threads(stage: Sequence[Any], where: str) -> str:
    """What to know of threads that make items of `stage` in advance; empty if there are none."""
    found = [threads_of(member) for member in stage]
    threads, ahead = max(found, default=(0, 0))
    if threads == 0:
        return ""
    name = name_of_member(workers_of(stage)[-1])
    return f"{threads} thread{'' if threads == 1 else 's'}{where} for {name}, {ahead} items ahead"
