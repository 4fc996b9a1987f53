"""The stages that a pipeline of SPDL is: one for each of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import trees
from .description import COPY, LOADER, NODE, Chain, Stage
from .node_chain import make_unique
from .spdl_pipeline import SpdlPipeline, makes_batches, name_of_stage, type_of_stage

_MADE_THERE = "its batches lie on the device already: there is no boundary on the host"


def chain_of_spdl(
    groups: Sequence[Sequence[Any]], outputs: Sequence[Any], on_device: bool, made_there: bool
) -> Chain:
    """`groups`: what each stage consists of. `outputs`: an item that each has given. `made_there`:
    the batches lie on the device already."""
    stages: list[Stage] = []
    is_batch = not any(makes_batches(one) for group in groups for one in group)
    for group, output in zip(groups, outputs):
        joins = any(map(makes_batches, group))
        kind = "batch" if is_batch else "collate" if joins else "sample"
        is_batch = is_batch or joins
        name = ", ".join(map(name_of_stage, group))
        stage = Stage(name, type_of_stage(group[-1]), kind, NODE, output=trees.describe(output))
        stage.cacheable = False  # Whether it draws random numbers is not known.
        stages.append(stage)
    make_unique(stages)
    stages[0].kind = "source"
    stages[-1].place = LOADER
    chain = Chain(stages, of_data_loader=False)
    if on_device and made_there:
        stages[-1].held = "device"
        chain.notes.append(_MADE_THERE)
    elif on_device:
        stages.append(Stage("copy", "copy.to", "copy", COPY, held="device"))
    return chain


def notes_of_spdl(pipeline: SpdlPipeline) -> list[str]:
    """What to know of its stages."""
    return [
        f"the stages of the {pipeline.name} run at the same time, in threads: one that is slower "
        "than another hides it. What fixing one alone would give tells more than what it costs"
    ]
