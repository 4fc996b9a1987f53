"""Finds what measures the stages of a pipeline of Grain."""

from __future__ import annotations

import contextlib
from typing import Optional

from .._chain.grain_chain import notes_of_grain
from .._chain.grain_graph import GrainGraph
from .._chain.own_iteration import Context
from .grain_arms import GrainArms
from .grain_worker_arms import GrainWorkerArms
from .kept_sources import kept_sources


def arms_of_grain(graph: GrainGraph, around: Context) -> tuple[Optional[GrainArms], list[str]]:
    """Those of `graph`, if its stages can be measured; and notes. `around`: a context for what
    opens them. Raises nothing."""
    why, arms = graph.why_not, None
    if not why:
        try:
            arms = _made(graph, around)
            arms.notes = notes_of_grain(graph)
            arms.look()
            return arms, arms.notes
        except Exception as error:
            why = f"copies of them fail: {type(error).__name__}: {error}"
            if arms is not None:
                with contextlib.suppress(Exception):
                    arms.close()
    return None, [f"the stages of the {graph.name} are not measured one by one: {why}"]


def _made(graph: GrainGraph, around: Context) -> GrainArms:
    shared = kept_sources(graph.sources(), graph.ingredients())
    if graph.processes is not None:
        return GrainWorkerArms(graph, shared, around)
    return GrainArms(graph.outside, shared, around)
