"""A chain whose stages are groups of the members of a pipeline, which runs them itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from .description import COPY, LOADER, NODE, Chain, Stage

_MADE_THERE = "its batches lie on the device already: there is no boundary on the host"


class Naming(NamedTuple):
    """What a library's members are called."""

    name: Callable[[Any], str]
    type: Callable[[Any], str]
    """ "category.name" of docs/extend/protocol.md."""
    joins: Callable[[Any], bool]
    """True for a member that joins items to a batch."""


def chain_of_groups(
    groups: Sequence[Sequence[Any]],
    outputs: Sequence[str],
    on_device: bool,
    made_there: bool,
    naming: Naming,
) -> Chain:
    """`groups`: the members of each stage, in order. `outputs`: an item that each stage
    has given, in words. `made_there`: the batches lie on the device already."""
    stages: list[Stage] = []
    is_batch = not any(naming.joins(member) for group in groups for member in group)
    for group, output in zip(groups, outputs):
        joins = any(map(naming.joins, group))
        kind = "batch" if is_batch else "collate" if joins else "sample"
        is_batch = is_batch or joins
        name = ", ".join(map(naming.name, group))
        stage = Stage(name, naming.type(group[-1]), kind, NODE, output=output)
        stage.cacheable = False  # Whether it draws random numbers is not known.
        stages.append(stage)
    _make_unique(stages)
    stages[0].kind = "source"
    stages[-1].place = LOADER
    chain = Chain(stages, of_data_loader=False)
    if on_device and made_there:
        stages[-1].held = "device"
        chain.notes.append(_MADE_THERE)
    elif on_device:
        stages.append(Stage("copy", "copy.to", "copy", COPY, held="device"))
    return chain


def _make_unique(stages: list[Stage]) -> None:
    """Puts a number behind each name that others have too."""
    counts: dict[str, int] = {}
    for stage in stages:
        counts[stage.name] = counts.get(stage.name, 0) + 1
        if counts[stage.name] > 1:
            stage.name = f"{stage.name} ({counts[stage.name]})"
