"""The stages that a pipeline of SPDL is: one for each of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .description import Chain
from .grouped_chain import Naming, chain_of_groups
from .spdl_pipeline import SpdlPipeline, makes_batches, name_of_stage, type_of_stage

_NAMING = Naming(name_of_stage, type_of_stage, makes_batches)


def chain_of_spdl(
    groups: Sequence[Sequence[Any]], outputs: Sequence[str], on_device: bool, made_there: bool
) -> Chain:
    """As chain_of_groups()."""
    return chain_of_groups(groups, outputs, on_device, made_there, _NAMING)


def notes_of_spdl(pipeline: SpdlPipeline) -> list[str]:
    """What to know of its stages."""
    return [
        f"the stages of the {pipeline.name} run at the same time, in threads: one that is slower "
        "than another hides it. What fixing one alone would give tells more than what it costs"
    ]
