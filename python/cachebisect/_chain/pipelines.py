"""Callables inside the pipelines of WebDataset and of Hugging Face's iterable datasets.

Their iterators keep each callable as long as they run. So a copy of the pipeline is read instead,
which calls a Switch where the pipeline calls the callable; the pipeline itself stays as it is. So
do torch's data pipes, of which pipe_members.py makes the copy.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from .pipe_members import notes_of_pipes, pipe_slots, with_pipe_stages
from .slots import Slot, callable_name, slots_at

_STEPS = ("_map", "_map_dict", "_map_tuple", "_select", "_batched")
"""Functions of WebDataset that call what they are given for each sample, or for each batch."""


class Switch:
    """Calls `function`, which may be replaced while the pipeline runs. Not thread safe."""

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def with_switches(dataset: Any) -> Any:
    """A copy of `dataset` with Switches in its pipeline; `dataset` itself if there is nothing to
    replace. Reading the copy gives what reading `dataset` gives."""
    try:
        if _is_a(dataset, "webdataset.pipeline", "DataPipeline"):
            return _web_dataset(dataset)
        if _is_a(dataset, "datasets", "IterableDataset"):
            return _hugging_face(dataset)
        return with_pipe_stages(dataset)
    except Exception:  # Another version of the library: its stages are part of `read`.
        pass
    return dataset


def switch_slots(dataset: Any) -> list[Slot]:
    """The slots of the Switches in what with_switches() has returned."""
    found: dict[int, Switch] = {id(switch): switch for switch in _switches(dataset)}
    slots = [slot for switch in found.values() for slot in slots_at(_slot(switch), switch.name)]
    return [*slots, *pipe_slots(dataset)]


def notes_of_pipeline(dataset: Any) -> list[str]:
    """What to know of the pipeline in what with_switches() has returned."""
    return notes_of_pipes(dataset)


def _slot(switch: Switch) -> Slot:
    def put(value: Any) -> None:
        switch.function = value

    name = f"{switch.name} {callable_name(switch.function)}"
    return Slot(name, "augment", lambda: switch.function, put, (id(switch), "function"))


def _is_a(dataset: Any, module: str, name: str) -> bool:
    owner = getattr(sys.modules.get(module), name, None)
    return isinstance(owner, type) and isinstance(dataset, owner)


def _switched(name: str, value: Any) -> Any:
    """A Switch for a function or an object that is called; other values as they are."""
    if not callable(value) or isinstance(value, type) or inspect.iscoroutinefunction(value):
        return value
    if _is_a(value, "webdataset.autodecode", "Decoder"):  # A row of libraries.ROWS.
        return value
    return Switch(name, value)


def _shallow(value: Any) -> Any:
    """A copy that shares what `value` holds, but not its attributes, as copy.copy() may."""
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    return made


def _web_dataset(dataset: Any) -> Any:
    made = _shallow(dataset)
    made.pipeline = [_step(step) for step in dataset.pipeline]
    return made if any(True for _ in _switches(made)) else dataset


def _step(step: Any) -> Any:
    function: Any = getattr(step, "f", None)
    if type(step).__name__ != "FilterFunction" or function.__name__ not in _STEPS:
        return step
    name = function.__name__[1:]
    made = _shallow(step)
    several = len(step.args) > 1
    made.args = tuple(
        _switched(f"{name}[{number}]" if several else name, value)
        for number, value in enumerate(step.args)
    )
    made.kw = {
        key: value if key == "handler" else _switched(_keyword(name, key), value)
        for key, value in step.kw.items()
    }
    return made


def _keyword(step: str, key: str) -> str:
    return f"{step}[{key}]" if step == "map_dict" else step


def _hugging_face(dataset: Any) -> Any:
    made = _shallow(dataset)
    made._ex_iterable = _examples(dataset._ex_iterable, {})
    return made if any(True for _ in _switches(made)) else dataset


def _examples(examples: Any, known: dict[int, Any]) -> Any:
    """A copy of a chain of iterables. `known`: Switches by the id of what they call."""
    made = _shallow(examples)
    held = vars(made)
    if "ex_iterable" in held:
        made.ex_iterable = _examples(held["ex_iterable"], known)
    if isinstance(held.get("ex_iterables"), list):
        made.ex_iterables = [_examples(each, known) for each in held["ex_iterables"]]
    if "mask_function" in held:
        switch = _known("filter", held["mask_function"], known)
        function = held["function"]
        made.mask_function = switch
        made.function = functools.partial(function.func, switch, **function.keywords)
    elif "function" in held:
        made.function = _known("map", held["function"], known)
    return made


def _known(name: str, function: Any, known: dict[int, Any]) -> Any:
    if id(function) not in known:
        known[id(function)] = _switched(name, function)
    return known[id(function)]


def _switches(dataset: Any) -> Iterator[Switch]:
    for step in getattr(dataset, "__dict__", {}).get("pipeline") or ():
        for value in (*getattr(step, "args", ()), *getattr(step, "kw", {}).values()):
            if isinstance(value, Switch):
                yield value
    yield from _switches_of(getattr(dataset, "__dict__", {}).get("_ex_iterable"))


def _switches_of(examples: Any) -> Iterator[Switch]:
    """Those of Hugging Face's chain, the first to be called first."""
    held = getattr(examples, "__dict__", {})
    for inner in (held.get("ex_iterable"), *(held.get("ex_iterables") or ())):
        if inner is not None:
            yield from _switches_of(inner)
    for name in ("mask_function", "function"):
        if isinstance(held.get(name), Switch):
            yield held[name]
