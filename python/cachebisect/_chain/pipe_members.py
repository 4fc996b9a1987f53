"""Members of torch's data pipes as stages: a copy of the pipes, with something between any two.

The copy has iterators, containers and random generators of its own, and shares all other objects.
Not thread safe.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from .node_copy import makes_threads, own_value
from .pipe_graph import (
    OWN_MODULE,
    Member,
    function_of,
    graph_of,
    has_other_state,
    is_pipe,
    is_wrapper,
    name_of_pipe,
    shuffles,
    source_of,
)
from .pipe_stage import Between, PipeStage, between
from .slots import Slot, attribute_slot, slots_at

_ITERATION = (
    "_valid_iterator_id", "_number_of_samples_yielded", "_snapshot_state",
    "_fast_forward_iterator", "_datapipe_iter",
)  # fmt: skip
"""Attributes that tell how far an iterator of the pipe is: a copy has none."""
_MOST_PIPES = 1000
"""Of a chain that leads back to itself there is no end."""


def with_pipe_stages(dataset: Any) -> Any:
    """A copy of `dataset` with its members apart; `dataset` itself if it is no chain of pipes, or
    cannot be opened up. Raises CannotCopy; what the classes of pipes raise."""
    graph = graph_of(dataset)
    if graph is None or not graph.members:
        return dataset
    below: Any = graph.source if graph.why_not else _source_copy(graph.source)
    stage: Optional[PipeStage] = None
    for member in graph.members:
        copied = _copying(member)
        taker = PipeStage(member.pipe, copied) if function_of(member.pipe) is None else None
        link = below if stage is None and taker is None else between(below, stage, taker)
        below, stage = copied(link), taker
        if taker is not None:
            taker.before = link
    last = below if stage is None else between(below, stage, None)
    return _copy(dataset, {"_datapipe": last}) if is_wrapper(dataset) else last


def pipe_slots(dataset: Any) -> list[Slot]:
    """The slots of the members in what with_pipe_stages() has returned."""
    found: list[Slot] = []
    for pipe, stage in _opened(dataset)[1]:
        name = function_of(pipe)
        if stage is not None:
            found.append(_slot(stage))
        elif name is not None:
            label = name_of_pipe(pipe)
            slot = attribute_slot(pipe, name)
            slot.name = label
            found.extend(slots_at(slot, label.split()[0]))
    return found


def notes_of_pipes(dataset: Any) -> list[str]:
    """What to know of the members of a dataset, as it is or as with_pipe_stages() returns it."""
    source, members = _opened(dataset)
    if not is_pipe(source):
        return []
    why_not = source_of(source)[1]
    buffers = [name_of_pipe(pipe) for pipe, _ in members if shuffles(pipe)]
    notes = [f"{why_not}: it and what is before it are part of `read`"] * bool(why_not)
    if buffers:
        notes.append(
            f"{', '.join(buffers)}: a shuffle buffer. What is before it runs ahead of the samples"
        )
    return notes


def _opened(dataset: Any) -> tuple[Any, list[tuple[Any, Optional[PipeStage]]]]:
    """The source, and the pipes behind it with their stages, the last one last."""
    found: list[tuple[Any, Optional[PipeStage]]] = []
    following = dataset._datapipe if is_wrapper(dataset) else dataset
    while True:
        stage = None
        if issubclass(type(following), Between):
            following, stage = following.pipe, following.stage
        name = source_of(following)[0] if is_pipe(following) else ""
        if not name or len(found) == _MOST_PIPES:
            return following, found[::-1]
        found.append((following, stage))
        following = vars(following)[name]


def _slot(stage: PipeStage) -> Slot:
    def put(value: Any) -> None:
        stage.function = value

    name = name_of_pipe(stage.pipe)
    return Slot(name, "custom", lambda: stage.function, put, (id(stage), "function"))


def _copying(member: Member) -> Callable[[Any], Any]:
    return lambda source: _copy(member.pipe, {member.source: source})


def _source_copy(pipe: Any) -> Any:
    """Iterators of the copy do not end those of `pipe`."""
    kind = type(pipe)
    shares = makes_threads(kind, OWN_MODULE) or has_other_state(kind)
    return pipe if shares else _copy(pipe, {}, keeps=True)


def _copy(pipe: Any, instead: dict[str, Any], keeps: bool = False) -> Any:
    """`instead`: values of attributes. `keeps`: all others are shared. Raises CannotCopy."""
    made = object.__new__(type(pipe))
    for name, value in [*vars(pipe).items()]:
        if name in instead:
            made.__dict__[name] = instead[name]
        elif name not in _ITERATION:
            made.__dict__[name] = value if keeps else own_value(pipe, value)
    if is_wrapper(pipe):
        made.__dict__["_datapipe_iter"] = None
    return made
