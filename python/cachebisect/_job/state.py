"""Keeps the state of model and optimizer: each round of blocks starts from the same weights.

Not thread safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._chain import trees


class KeptState:
    """The `state_dict()` of each object at the time of construction.

    `objects` have `state_dict()` and `load_state_dict()`; raises TypeError naming one without.
    """

    def __init__(self, objects: Sequence[Any] = ()) -> None:
        for owner in objects:
            if not hasattr(owner, "state_dict") or not hasattr(owner, "load_state_dict"):
                raise TypeError(
                    f"state: {type(owner).__name__} has no state_dict() and load_state_dict(); "
                    "give the model and the optimizer"
                )
        self._objects = list(objects)
        self._kept = [trees.clone(owner.state_dict()) for owner in objects]

    def __bool__(self) -> bool:
        return bool(self._objects)

    def restore(self) -> None:
        """Gives every object its kept state back."""
        for owner, kept in zip(self._objects, self._kept):
            owner.load_state_dict(trees.clone(kept))


class SteppedParameters:
    """An optimizer and the parameters that it steps, as one state."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def parameters(self) -> list[Any]:
        return [p for group in self._optimizer.param_groups for p in group["params"]]

    def state_dict(self) -> dict[str, Any]:
        values = [parameter.detach() for parameter in self.parameters()]
        return {"optimizer": self._optimizer.state_dict(), "parameters": values}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._optimizer.load_state_dict(state["optimizer"])
        for parameter, value in zip(self.parameters(), state["parameters"]):
            parameter.detach().copy_(value)


def device_of(objects: Sequence[Any]) -> Any:
    """The torch.device of the first parameter found in `objects`; None if there is none."""
    for owner in objects:
        parameters = getattr(owner, "parameters", None)
        if callable(parameters):
            for parameter in parameters():
                return parameter.device
    return None


def describe_step(objects: Sequence[Any]) -> str:
    """The training step in words, by the classes of its state."""
    names = [type(owner).__name__ for owner in objects]
    return ", ".join(["step", *names])
