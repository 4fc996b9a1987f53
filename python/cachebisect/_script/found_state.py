"""Finds what a script's training changes, so that it can be given back. Not thread safe."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

from .._chain import trees
from .._job.kept_sources import KeptAttributes
from .._job.kept_tensors import KeptOptimizer, KeptTensors
from .._job.state import Kept, KeptDict
from .._worker.kept_random import KeptRandom
from .loose_tensors import LooseTensors
from .named_state import kept_of_named, loaders_within

_SMALL_BYTES = 64 << 20


class ModuleTensors:
    """Parameters and buffers of all modules, and how often each had been written to by then; and
    other tensors."""

    def __init__(self) -> None:
        self._versions = {id(tensor): _version(tensor) for tensor, _ in _tensors_of_modules()}
        self._loose = LooseTensors()

    def state(self, stepped: list[Any], optimizers: list[Any]) -> list[Any]:
        """What training changes but `stepped`, the parameters that `optimizers` step, and the state
        of these: tensors of modules; and of no module, if they have the shape of such a parameter
        and were written to since."""
        of_modules = list(_tensors_of_modules())
        known = [tensor for tensor, _ in of_modules]
        for optimizer in optimizers:
            known += [t for values in optimizer.state.values() for t in trees.leaves(values)]
        changed = self._changed(of_modules, {id(tensor) for tensor in stepped})
        return changed + self._loose.written(stepped, known)

    def _changed(self, of_modules: list[tuple[Any, bool]], seen: set[int]) -> list[Any]:
        """Those without `seen` that were written to since, such as averages of weights; that have
        a gradient; and small buffers, which a CUDA graph may write to unseen."""
        found = []
        for tensor, is_buffer in of_modules:
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            written = self._versions.get(id(tensor)) != _version(tensor)
            small = is_buffer and tensor.numel() * tensor.element_size() < _SMALL_BYTES
            if written or small or tensor.grad is not None:
                found.append(tensor)
        return found


def _tensors_of_modules() -> Iterator[tuple[Any, bool]]:
    """(tensor, whether it is a buffer)"""
    for module in _instances((sys.modules["torch"].nn.Module,)):
        for kind in ("_parameters", "_buffers"):
            values = getattr(module, "__dict__", {}).get(kind)
            for tensor in list(values.values()) if isinstance(values, dict) else []:
                if tensor is not None and tensor.is_leaf:
                    yield tensor, kind == "_buffers"


def _instances(kinds: tuple[type, ...]) -> list[Any]:
    return [found for found in gc.get_objects() if issubclass(type(found), kinds)]


def _version(tensor: Any) -> int:
    try:
        return int(tensor._version)
    except RuntimeError:  # An inference tensor has no version.
        return -1


class FoundState:
    """The state of a script's training. `optimizers`: those that have stepped. `modules`: as they
    were a few steps ago."""

    def __init__(self, loaders: list[Any], optimizers: list[Any], modules: ModuleTensors) -> None:
        stepped = [p for o in optimizers for group in o.param_groups for p in group["params"]]
        others = KeptTensors(modules.state(stepped, optimizers))
        self.each_round: list[Kept] = [KeptOptimizer(optimizer) for optimizer in optimizers]
        self.each_round += [others] if len(others) > 0 else []
        """What each round of blocks begins with."""
        loaders = [*loaders, *(inner for loader in loaders for inner in loaders_within(loader))]
        samplers = [sampler for loader in loaders for sampler in _samplers(loader)]
        with_state = _with_state()
        self.at_end: list[Kept] = [KeptDict(owner) for owner in with_state]
        self.at_end += [KeptAttributes(sampler) for sampler in samplers]
        self.at_end += [kept for loader in loaders for kept in kept_of_named(loader)]
        self.at_end.append(KeptRandom(_generators([*loaders, *samplers])))
        """What training goes on with after the last block."""
        names = [type(owner).__name__ for owner in (*optimizers, *with_state)]
        self.note = "restored after measuring: " + ", ".join(
            [
                *names,
                *([f"{len(others)} other tensors"] if len(others) > 0 else []),
                "random numbers",
                "the order of samples",
            ]
        )


def _generators(owners: list[Any]) -> list[Any]:
    torch = sys.modules["torch"]
    found = [getattr(owner, "generator", None) for owner in owners]
    return list({id(g): g for g in found if isinstance(g, torch.Generator)}.values())


def _samplers(loader: Any) -> list[Any]:
    """The samplers of a DataLoader, and those inside them."""
    found: list[Any] = []
    waiting = [getattr(loader, "batch_sampler", None), getattr(loader, "sampler", None)]
    while waiting:
        sampler = waiting.pop()
        if sampler is None or any(sampler is known for known in found):
            continue
        found.append(sampler)
        inside = getattr(sampler, "__dict__", {})
        waiting += [inside.get("sampler"), inside.get("batch_sampler")]
    return found


def _with_state() -> list[Any]:
    """Schedulers of learning rates, and scalers of gradients."""
    torch = sys.modules["torch"]
    schedulers = torch.optim.lr_scheduler
    names = ("LRScheduler", "_LRScheduler", "ReduceLROnPlateau")
    kinds = [getattr(schedulers, name, None) for name in names]
    kinds.append(getattr(torch.amp, "GradScaler", None))
    kinds.append(torch.cuda.amp.GradScaler)
    return _instances(tuple(kind for kind in kinds if isinstance(kind, type)))
