"""Keeps the state of training: each round of blocks starts from the same weights.

Not thread safe.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Optional, Protocol

from .._chain import trees
from .kept_tensors import KeptOptimizer, KeptTensors


class Kept(Protocol):
    """Something that was kept."""

    def restore(self) -> None: ...


class KeptState:
    """The state of `objects` at the time of construction. `each_round`: more that was kept.
    `at_end`: what is given back at the end alone, such as the position of a sampler.

    Modules and optimizers of torch are kept tensor by tensor, others by `state_dict()` and
    `load_state_dict()`; raises TypeError naming one without.
    """

    def __init__(
        self,
        objects: Sequence[Any] = (),
        each_round: Sequence[Kept] = (),
        at_end: Sequence[Kept] = (),
    ) -> None:
        self._kept = [*map(_kept, objects), *each_round]
        self._at_end = list(at_end)

    def __bool__(self) -> bool:
        return bool(self._kept)

    def restore(self) -> None:
        """Gives every object its kept state back. Raises what one of them raised, after all."""
        _restore_all(self._kept)

    def restore_all(self) -> None:
        """The same when measuring is over: training goes on as if it had not been."""
        _restore_all([*self._kept, *self._at_end])


def _restore_all(kept: Sequence[Kept]) -> None:
    failure: Optional[Exception] = None
    for one in kept:
        try:
            one.restore()
        except Exception as error:
            failure = error
    if failure is not None:
        raise failure


class KeptDict:
    """What `state_dict()` of an object gave. Objects in it, such as a scheduler that follows
    another one, are shared: a copy would step copies of the weights."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._state = _copied(owner.state_dict())

    def restore(self) -> None:
        self._owner.load_state_dict(_copied(self._state))


def _copied(state: Any) -> Any:
    return trees.map_leaves(state, lambda leaf: trees.clone(leaf) if trees.is_data(leaf) else leaf)


def _kept(owner: Any) -> Kept:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(owner, torch.nn.Module):
        return KeptTensors([*owner.parameters(), *owner.buffers()])
    if torch is not None and isinstance(owner, torch.optim.Optimizer):
        return KeptOptimizer(owner)
    if not hasattr(owner, "state_dict") or not hasattr(owner, "load_state_dict"):
        raise TypeError(
            f"state: {type(owner).__name__} has no state_dict() and load_state_dict(); "
            "give the model and the optimizer"
        )
    return KeptDict(owner)


def device_of(objects: Sequence[Any]) -> Any:
    """The torch.device of the first parameter found in `objects`; None if there is none."""
    for owner in objects:
        groups = getattr(owner, "param_groups", None)
        parameters = getattr(owner, "parameters", None)
        if isinstance(groups, list):
            found = [p for group in groups for p in group["params"]]
        else:
            found = list(parameters()) if callable(parameters) else []
        for parameter in found:
            return parameter.device
    return None


def device_of_step(moved_to: Any, objects: Sequence[Any]) -> Any:
    """Where the steps run: `moved_to`, where batches were seen to go, else where the parameters of
    `objects` lie. Raises ValueError if that cannot be known and no clock of the host's tells."""
    device = moved_to if moved_to is not None else device_of(objects)
    if device is None and (_uses_cuda() or _uses_jax()):
        raise ValueError(
            "the device of the step is not known: no batch was seen to move to it, and no "
            "optimizer of torch has parameters there; call "
            "cachebisect.bisect(loader, step, device=...) in the script, with a step that waits "
            "for its result if it is not torch's"
        )
    return device


def _uses_cuda() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized()


def _uses_jax() -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and jax.default_backend() != "cpu"


def describe_step(objects: Sequence[Any]) -> str:
    """The training step in words, by the classes of its state."""
    names = [type(owner).__name__ for owner in objects]
    return ", ".join(["step", *names])
