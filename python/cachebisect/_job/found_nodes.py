"""Finds the pipelines of other libraries whose members can be measured one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Optional

from .._chain.grain_graph import graph_of_grain
from .._chain.named_source import NamedSource
from .._chain.node_graph import NodeGraph, graph_of
from .._chain.own_iteration import Context, OwnIteration
from .._chain.ray_stats import notes_of_ray
from .._chain.shared_stream import SharedStream
from .._chain.spdl_pipeline import SpdlPipeline
from .._worker.kept_random import KeptRandom
from .._worker.worker_end import end_iterator
from .found_grain import arms_of_grain
from .kept_sources import kept_sources
from .member_arms import MemberArms
from .node_arms import NodeArms
from .spdl_arms import arms_of_spdl
from .working_arms import arms_that_work


def graph_that_opens(loader: Any) -> Optional[NodeGraph]:
    """The pipeline of a torchdata.nodes.Loader, if a copy of it gives a batch; None for anything
    else. The loader and what it is made from are left as they are."""
    graph = graph_of(loader)
    if graph is None or graph.why_not:
        return None
    graph.rest()
    with KeptRandom(), put_back(graph):
        own = None
        try:
            own = iter(graph)
            next(own)
            return graph
        except Exception:  # Of its nodes: what measures the loader as a whole meets it, too.
            return None
        finally:
            end_iterator(own)


@contextlib.contextmanager
def put_back(graph: Optional[NodeGraph]) -> Iterator[None]:
    """At the end of a with block, what copies of `graph` share with it is as it was."""
    kept = [] if graph is None else kept_sources(graph.sources(), graph.ingredients())
    try:
        yield
    finally:
        for one in kept:
            one.restore()


def arms_of_members(batches: Any) -> tuple[Optional[MemberArms], list[str]]:
    """Those of `batches`, if it is a pipeline of SPDL or Grain, or a torchdata.nodes.Loader, or an
    iteration of one, whose members can be measured; and notes. Raises nothing."""
    if isinstance(batches, SpdlPipeline):
        return arms_of_spdl(batches)
    stream = None
    around: Context = contextlib.nullcontext
    made_from = [batches]
    graph = batches if isinstance(batches, NodeGraph) else graph_of(batches)
    if isinstance(batches, OwnIteration) and isinstance(batches.loader, NamedSource):
        stream, around = batches.loader.stream, batches.around
        graph = stream.nodes if stream is not None else None
        made_from = stream.made_from if stream is not None else []
    if graph is not None:
        return _arms_of_nodes(graph, stream, around)
    if stream is not None and stream.built is not None:
        return _arms_of_built(stream.built, stream)
    of_grain = graph_of_grain(made_from)
    if of_grain is not None:
        return arms_of_grain(of_grain, around)
    return None, notes_of_ray(made_from)


def _arms_of_built(
    built: SpdlPipeline, stream: SharedStream
) -> tuple[Optional[MemberArms], list[str]]:
    arms, notes = arms_of_spdl(built)
    if arms is None:
        stream.share()
    return arms, notes


def _arms_of_nodes(
    graph: NodeGraph, stream: Optional[SharedStream], around: Context
) -> tuple[Optional[MemberArms], list[str]]:
    arms, notes = arms_that_work(
        lambda: NodeArms(graph, around), graph.why_not, f"the members of {graph.name}"
    )
    if arms is None and not graph.why_not and stream is not None:
        stream.share()
    return arms, notes
