"""The last stages of samples, run on the device for a whole batch: `transforms[2]=device`.

Whether they give for a batch what they give for its samples is seen on a few samples. Not thread
safe.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Optional

from .._cache.child import in_child
from .._chain import facts, trees
from .._chain.settings import MAKES_FLOATS
from .._chain.slots import callable_name
from .._chain.sources import reads_whole_batches
from .._worker.host_part import HostPartDataset, as_bytes
from .._worker.kept_random import KeptRandom
from .._worker.probe import planned_slots
from .._worker.recording import settled
from .._worker.tape import Call, Copies, Ref, Tape, arguments, resolved

_SAMPLES = 4
_CLOSE = 1e-4
"""Relative; a device and a batch may round otherwise."""


@dataclass(frozen=True)
class _Place:
    """Where in a batch the output of the stages lies. `sends_bytes`: as HostPartDataset has it."""

    path: tuple[Any, ...]
    sends_bytes: bool


class DeviceStages:
    """The stages of `plan` from the one whose name begins with `first`, for whole batches.

    `loader`: the DataLoader whose dataset has them. Raises ValueError if a batch cannot be made
    so; what the dataset raises.
    """

    def __init__(self, loader: Any, plan: Sequence[str], first: str) -> None:
        starts = [number for number, name in enumerate(plan) if name.split()[0] == first]
        if len(starts) != 1:
            raise ValueError(f"there is no stage {first}")
        self._names = tuple(plan[starts[0] :])
        self._dataset = loader.dataset
        if facts.is_iterable(self._dataset) or reads_whole_batches(self._dataset):
            raise ValueError("the dataset makes several samples at once")
        self._place = in_child(partial(_examined, loader, tuple(plan), len(self._names)))
        self._functions: Optional[list[Callable[[Any], Any]]] = None

    def host_part(self, dataset: Any) -> HostPartDataset:
        """What is left for the workers. `dataset`: the loader's own, or one that stands for it."""
        return HostPartDataset(dataset, self._names, self._place.sends_bytes)

    def run(self, batch: Any) -> Any:
        """`batch`, made of the host part and on its device, with the output of the stages."""
        if self._functions is None:
            held = [slot.get() for slot in planned_slots(self._dataset, self._names)]
            self._functions = _for_batches(held, self._place.sends_bytes)
        return _with_output(batch, self._place.path, self._functions)


def _examined(loader: Any, plan: tuple[str, ...], count: int) -> _Place:
    """Where the output of the last `count` stages of `plan` lies. Makes a few samples."""
    slots = planned_slots(loader.dataset, plan)
    if len(slots) != len(plan):
        raise ValueError("the stages cannot be found in the training process")
    moved = [slot.get() for slot in slots[-count:]]
    sends_bytes = callable_name(moved[0]) in MAKES_FLOATS
    number = min(_SAMPLES, len(loader.dataset))
    copies = Copies()
    with KeptRandom():
        made = [partial(loader.dataset.__getitem__, index) for index in range(number)]
        tapes = [settled(slots, make, copies) for make in made]
        chains = [_chain(tape, len(plan) - count, count) for tape in tapes]
        whole = loader.collate_fn([tape.sample for tape in tapes])
        parts = [
            _host_sample(tape, calls, copies, sends_bytes) for tape, calls in zip(tapes, chains)
        ]
        path = _path_of(tapes[0].template, chains[0][-1])
        batch = loader.collate_fn(parts)
    if path is None:
        raise ValueError("a sample does not hold the output of its last stage as it is")
    try:
        made_there = _with_output(batch, path, _for_batches(moved, sends_bytes))
    except Exception as error:  # Code of the user's, for samples alone.
        raise ValueError(f"the stages fail for a batch: {type(error).__name__}: {error}") from error
    if not _close(made_there, whole):
        raise ValueError("the stages do not give for a batch what they give for its samples")
    return _Place(path, sends_bytes)


def _chain(tape: Tape, first: int, count: int) -> list[int]:
    """The numbers of the calls of the last stages, each of which takes what the one before it
    gave, and nothing else."""
    numbers = [number for number, call in enumerate(tape.calls) if call.stage >= first]
    if [tape.calls[n].stage for n in numbers] != list(range(first, first + count)):
        raise ValueError("a stage is called more than once for a sample, or in another order")
    for number, before in zip(numbers, [None, *numbers]):
        call = tape.calls[number]
        if len(call.args) != 1 or call.kwargs or call.owner:
            raise ValueError("a stage takes more than one argument")
        if before is not None and not _is_output(call.args[0], before):
            raise ValueError("the dataset changes the output of a stage before the next one")
    return numbers


def _host_sample(tape: Tape, numbers: list[int], copies: Copies, sends_bytes: bool) -> Any:
    """The sample as HostPartDataset makes it."""
    first: Call = tape.calls[numbers[0]]
    (value,), _ = arguments(first, tape, {}, copies)
    left = as_bytes(value) if sends_bytes else trees.clone(value)
    return resolved(tape.template, tape, dict.fromkeys(numbers, left), copies)


def _path_of(template: Any, call: int) -> Optional[tuple[Any, ...]]:
    """The keys that lead to the output of `call`, where it is there once."""
    found = list(_paths_of(template, call, ()))
    return found[0] if len(found) == 1 else None


def _paths_of(template: Any, call: int, path: tuple[Any, ...]) -> Any:
    if _is_output(template, call):
        yield path
    elif type(template) in (dict, tuple, list):
        items = template.items() if type(template) is dict else enumerate(template)
        for key, item in items:
            yield from _paths_of(item, call, (*path, key))


def _is_output(value: Any, call: int) -> bool:
    """True if it stands for the whole output of that call."""
    return isinstance(value, Ref) and value.call == call and not value.path


def _for_batches(held: list[Any], sends_bytes: bool) -> list[Callable[[Any], Any]]:
    return [_to_floats, *held[1:]] if sends_bytes else held


def _to_floats(images: Any) -> Any:
    """uint8 [N, C, H, W] as ToTensor gives it for each image: floats from 0 to 1."""
    import torch

    return images.to(torch.get_default_dtype()).div(255)


def _with_output(batch: Any, path: tuple[Any, ...], functions: list[Callable[[Any], Any]]) -> Any:
    """`batch` with the functions called in turn for what lies at `path`."""
    if not path:
        for function in functions:
            batch = function(batch)
        return batch
    key, rest = path[0], path[1:]
    inner = _with_output(batch[key], rest, functions)
    if isinstance(batch, tuple):
        items = [*batch[:key], inner, *batch[key + 1 :]]
        return type(batch)(*items) if hasattr(batch, "_fields") else tuple(items)
    changed = copy.copy(batch)  # Of its own type.
    changed[key] = inner
    return changed


def _close(one: Any, other: Any) -> bool:
    """Both batches hold the same types and shapes, and values as close as rounding allows."""
    import torch

    leaves = list(trees.leaves(one)), list(trees.leaves(other))
    if len(leaves[0]) != len(leaves[1]):
        return False
    for a, b in zip(*leaves):
        if trees.is_tensor(a) and trees.is_tensor(b):
            if a.dtype != b.dtype or a.shape != b.shape:
                return False
            if not torch.allclose(a, b, rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
                return False
        elif trees.digest(a) != trees.digest(b):
            return False
    return True
