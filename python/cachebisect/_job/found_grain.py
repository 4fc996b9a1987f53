"""Finds what measures the stages of a pipeline of Grain."""

from __future__ import annotations

from typing import Optional

from .._chain.grain_chain import notes_of_grain
from .._chain.grain_graph import GrainGraph
from .._chain.own_iteration import Context
from .grain_arms import GrainArms
from .grain_worker_arms import GrainWorkerArms
from .kept_sources import kept_sources
from .working_arms import arms_that_work


def arms_of_grain(graph: GrainGraph, around: Context) -> tuple[Optional[GrainArms], list[str]]:
    """Those of `graph`, if its stages can be measured; and notes. `around`: a context for what
    opens them. Raises nothing."""
    return arms_that_work(
        lambda: _made(graph, around), graph.why_not, f"the stages of the {graph.name}"
    )


def _made(graph: GrainGraph, around: Context) -> GrainArms:
    shared = kept_sources(graph.sources(), graph.ingredients())
    if graph.processes is not None:
        arms: GrainArms = GrainWorkerArms(graph, shared, around)
    else:
        arms = GrainArms(graph.outside, shared, around)
    arms.notes = notes_of_grain(graph)
    return arms
