"""What the datasets of Grain are called, and what they do, as far as their classes tell."""

from __future__ import annotations

import functools
from typing import Any, Optional

from .slots import callable_name

_QUIET = {
    "_WithSeedMapDataset", "_WithSeedIterDataset", "WithOptionsIterDataset", "_OutputIterDataset",
    "SliceMapDataset", "RepeatMapDataset", "RepeatIterDataset", "LimitIterDataset",
    "PrefetchIterDataset", "ThreadPrefetchIterDataset", "_MpContextIterDataset",
    "_LazyWorkerSliceIterDataset", "_SamplerMapDataset", "_DataLoaderStateIterDataset",
    "_DataLoaderPipelineMarkerIterDataset",
}  # fmt: skip
"""What changes an index, or runs in other threads what stands before it."""
_SHUFFLES = {
    "ShuffleMapDataset": "shuffle",
    "WindowShuffleMapDataset": "window_shuffle",
    "WindowShuffleIterDataset": "window_shuffle",
}
_OF_FUNCTIONS = {
    "Map": "map", "RandomMap": "random_map", "MapWithIndex": "map_with_index", "Filter": "filter",
    "FlatMap": "flat_map",
}  # fmt: skip
_JOINS = ("batch", "rebatch")
_PACKS = ("Pack", "ConcatThenSplit")
_ATTRIBUTES = ("_transform", "_map_fn", "_filter_fn", "_batch_fn", "_source", "_sampler")
"""Attributes that hold what a dataset was made with."""
_OWN = "grain."


def kind_of(dataset: Any) -> str:
    """What the method is called that makes such a dataset; its class if there is none."""
    name = type(dataset).__name__
    if name in _SHUFFLES:
        return _SHUFFLES[name]
    for suffix in ("MapDataset", "IterDataset"):
        known = _OF_FUNCTIONS.get(name[: -len(suffix)]) if name.endswith(suffix) else None
        if known is not None:
            return _kind_of_function(dataset, known)
        if name == "Batch" + suffix:
            return "batch"
        if name == "Source" + suffix or name == "Range" + suffix:
            return "source"
    return "rebatch" if name == "RebatchIterDataset" else name


def _kind_of_function(dataset: Any, known: str) -> str:
    """The DataLoader hands each transformation over in a function of its own."""
    kinds = [kind.__name__ for kind in type(_within(function_of(dataset))).__mro__]
    drawing = {"RandomMap", "TfRandomMap"}.intersection(kinds)
    return "random_map" if drawing else known


def is_quiet(dataset: Any) -> bool:
    """True for one that does no work of its own."""
    function = function_of(dataset)
    unpacks = _is_of_grain(function) and _within(function) is function
    return type(dataset).__name__ in _QUIET or (unpacks and kind_of(dataset) == "map")


def name_of(dataset: Any) -> str:
    """Its kind, and what it works by."""
    kind = kind_of(dataset)
    if kind == "source":
        source = vars(dataset).get("_source", range(0))
        return f"source {callable_name(source)}"
    if kind in _JOINS:
        return f"{kind} {vars(dataset).get('_batch_size', '')}".rstrip()
    if kind == "window_shuffle":
        return f"{kind} (shuffle buffer {vars(dataset).get('_window_size')})"
    function = function_of(dataset)
    return kind if function is None else f"{kind} {_name_of_function(function)}"


def type_of(dataset: Any) -> str:
    """ "category.name" of docs/extend/protocol.md."""
    kind = kind_of(dataset)
    if kind == "source":
        return f"read.{callable_name(vars(dataset).get('_source', range(0)))}"
    if joins(dataset):
        return f"collate.{kind}"
    function = function_of(dataset)
    return f"node.{kind}" if function is None else f"map.{_name_of_function(function)}"


def joins(dataset: Any) -> bool:
    """True for one that joins items."""
    return kind_of(dataset) in _JOINS or any(w in type(dataset).__name__ for w in _PACKS)


def is_random(dataset: Any) -> bool:
    """True for one that draws random numbers for the contents of its items."""
    return kind_of(dataset) == "random_map"


def repeats_itself(dataset: Any) -> bool:
    """True for one whose items are the same in each epoch, as far as Grain asks for it."""
    known = {"source", "map", "map_with_index", "filter", "flat_map", "shuffle", "window_shuffle"}
    return kind_of(dataset) in known or is_quiet(dataset) or joins(dataset)


def taken_for_one(dataset: Any) -> Optional[float]:
    """Items that it takes for each that it gives; None if that does not show."""
    kind = kind_of(dataset)
    if kind == "batch":
        return float(vars(dataset).get("_batch_size", 1))
    kinds = ("map", "random_map", "map_with_index", "shuffle", "window_shuffle")
    is_one = kind in kinds or type(dataset).__name__ != "LimitIterDataset"
    return 1.0 if kind in kinds or (is_quiet(dataset) and is_one) else None


def threads_of(dataset: Any) -> tuple[int, int]:
    """Threads that run what stands before it, and items that they make in advance."""
    options = vars(dataset).get("_read_options")
    if options is not None and type(dataset).__name__ == "PrefetchIterDataset":
        threads, ahead = int(options.num_threads), int(options.prefetch_buffer_size)
        return (threads, ahead) if threads > 0 and ahead > 0 else (0, 0)
    if type(dataset).__name__ == "ThreadPrefetchIterDataset":
        ahead = int(vars(dataset).get("_prefetch_buffer_size", 0))
        return (1, ahead) if ahead > 0 else (0, 0)
    return 0, 0


def ingredients_of(dataset: Any) -> list[Any]:
    """What it was made with: its source, its function, the object that this is a method of."""
    own = vars(dataset)
    given = [own[name] for name in _ATTRIBUTES if own.get(name) is not None]
    if kind_of(dataset) not in ("source", *_JOINS, *_OF_FUNCTIONS.values()):
        given += [value for name, value in own.items() if name != "_parents"]
    return [part for value in given for part in _parts_of(value)]


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, functools.partial):
        given = [value.func, *value.args, *value.keywords.values()]
        return [part for each in given for part in _parts_of(each)]
    owner = getattr(value, "__self__", None)
    inner = _within(value)
    return [owner if owner is not None and callable(value) else inner]


def function_of(dataset: Any) -> Any:
    """The user's function or transformation; None if it has none."""
    own = vars(dataset)
    return next((own[n] for n in ("_transform", "_map_fn", "_filter_fn") if n in own), None)


def _within(function: Any) -> Any:
    """The transformation that a function of Grain calls; else `function` itself."""
    if not _is_of_grain(function):
        return function
    for cell in getattr(function, "__closure__", None) or ():
        value = cell.cell_contents
        if _is_transformation(value):
            return value
    return function


def _is_transformation(value: Any) -> bool:
    return any(kind.__module__.startswith(_OWN) for kind in type(value).__mro__)


def _is_of_grain(function: Any) -> bool:
    is_function = getattr(function, "__closure__", function) is not function
    return is_function and str(getattr(function, "__module__", "")).startswith(_OWN)


def _name_of_function(function: Any) -> str:
    inner = _within(function)
    owner = getattr(inner, "__self__", None)
    return callable_name(owner if _is_transformation(owner) else inner)
