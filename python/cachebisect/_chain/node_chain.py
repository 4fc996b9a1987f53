"""The stages that a torchdata.nodes pipeline is: one for each of its members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from .description import Chain
from .grouped_chain import Naming, chain_of_groups
from .node_copy import is_known
from .node_graph import NodeGraph, source_of
from .slots import callable_name

_SIZES = ("buffer_size", "_buffer_size", "shuffle_buffer_size")


def chain_of_nodes(
    groups: Sequence[Sequence[Any]], outputs: Sequence[str], on_device: bool, made_there: bool
) -> Chain:
    """As chain_of_groups()."""
    naming = Naming(name_of_node, _type, lambda node: _kind(node) == "Batcher")
    return chain_of_groups(groups, outputs, on_device, made_there, naming)


def notes_of_nodes(graph: NodeGraph) -> list[str]:
    """What to know of the stages of `graph`."""
    notes = []
    ahead = [name_of_node(node) for node in graph.members if look_ahead(node) > 0]
    if ahead:
        notes.append(
            f"{', '.join(ahead)}: make items in advance, so that members run at the same time. One "
            "that is slower than another hides it: what fixing one alone would give tells more "
            "than what it costs"
        )
    if graph.has_several_sources:
        name = type(graph.members[0]).__name__
        notes.append(f"{name} takes items from several nodes: they are measured as one source")
    return notes


def name_of_node(node: Any) -> str:
    """Its class, what it works by, and what it holds in advance."""
    kind, ahead = _kind(node), look_ahead(node)
    words = [kind or type(node).__name__]
    if kind in ("Mapper", "ParallelMapper"):
        words.append(_function_name(node))
    elif kind in ("IterableWrapper", "SamplerWrapper"):
        words.append(callable_name(node.iterable if kind[0] == "I" else node.sampler))
    elif kind == "Batcher":
        words.append(str(node.batch_size))
    buffered = _buffer(node)
    if ahead > 0:
        words.append(f"(look-ahead {ahead})")
    elif buffered is not None:
        words.append(buffered)
    return " ".join(words)


def look_ahead(node: Any) -> int:
    """Items that a node of torchdata makes in advance; 0: none."""
    kind = _kind(node)
    if kind == "ParallelMapper":
        items = int(getattr(node, "max_concurrent", None) or 2 * node.num_workers)
        return items * int(getattr(node, "prebatch", None) or 1)
    if kind == "Prefetcher":
        return int(node.prefetch_factor)
    return 1 if kind == "PinMemory" else 0


def threads_of(node: Any) -> int:
    """Threads that a node of torchdata runs; a process counts as four, for its memory."""
    if look_ahead(node) == 0:
        return 0
    if _kind(node) != "ParallelMapper":
        return 1
    return int(node.num_workers) * (4 if sends_to_processes(node) else 1) + 2


def gives_one_for_one(node: Any) -> bool:
    """True for a node of torchdata that gives one item for each that it takes."""
    return _kind(node) in ("Mapper", "ParallelMapper", "Prefetcher", "PinMemory")


def sends_to_processes(node: Any) -> bool:
    """True for one whose items go to other processes."""
    return _kind(node) == "ParallelMapper" and node.method == "process"


def passes_on(node: Any) -> bool:
    """True for one that gives the very objects that it takes."""
    return _kind(node) in ("Batcher", "Unbatcher", "Prefetcher")


def _kind(node: Any) -> str:
    """Which of torchdata's nodes it is: without workers, a mapper is a Mapper. Empty: another."""
    name = type(node).__name__ if is_known(node) else ""
    return "Mapper" if name == "ParallelMapper" and node.num_workers == 0 else name


def _function_name(node: Any) -> str:
    function = node.map_fn
    if getattr(node, "prebatch", None):
        function = getattr(function, "map_fn", function)
    owner = getattr(function, "__self__", None)
    name = callable_name(function)
    return f"{type(owner).__name__}.{name}" if name == "__getitem__" else name


def _type(node: Any) -> str:
    kind = _kind(node) or type(node).__name__
    if source_of(node) is None:
        return f"{'sampler' if kind == 'SamplerWrapper' else 'read'}.{kind}"
    if kind == "PinMemory":
        return "pin.PinMemory"
    if _kind(node) not in ("Mapper", "ParallelMapper"):
        return f"node.{kind}"
    name = _function_name(node)
    if name.endswith(".__getitem__"):
        return "read.dataset"
    return f"{'collate' if 'collate' in name.lower() else 'map'}.{name}"


def _buffer(node: Any) -> Optional[str]:
    """A shuffle buffer in words; None if the node has none that shows."""
    held = vars(node)
    size = next((held[name] for name in _SIZES if type(held.get(name)) is int), None)
    if "shuffl" in type(node).__name__.lower():
        return "(shuffle buffer)" if size is None else f"(shuffle buffer {size})"
    return None if size is None else f"(buffer {size})"
