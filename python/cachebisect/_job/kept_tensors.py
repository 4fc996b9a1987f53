"""Keeps the values of tensors on the host, and gives them back in place.

In place: a compiled optimizer and a CUDA graph go on using the same memory. Not thread safe.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


class KeptTensors:
    """The values of `tensors` at the time of construction: one copy in host memory, pinned where a
    tensor lies on a CUDA device. Raises what the copy raises, such as for a lack of memory."""

    def __init__(self, tensors: Iterable[Any]) -> None:
        self._tensors = [_local(tensor) for tensor in tensors]
        self._kept = [_on_host(tensor) for tensor in self._tensors]

    def __len__(self) -> int:
        return len(self._tensors)

    def restore(self) -> None:
        """Gives every tensor its kept value back."""
        with sys.modules["torch"].no_grad():
            for tensor, kept in zip(self._tensors, self._kept):
                tensor.copy_(kept, non_blocking=True)


def _local(tensor: Any) -> Any:
    """The part of a distributed tensor that this process holds; without gradients."""
    part = getattr(tensor, "to_local", None)
    return (part() if callable(part) else tensor).detach()


def _on_host(tensor: Any) -> Any:
    torch = sys.modules["torch"]
    pinned = tensor.device.type == "cuda"
    kept = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=pinned)
    return kept.copy_(tensor)


class KeptOptimizer:
    """The parameters that a torch optimizer steps, its state and its settings, such as rates."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._without_gradient = [p for p in parameters if p.grad is None]
        self._settings = [
            {key: value for key, value in group.items() if key != "params"}
            for group in optimizer.param_groups
        ]
        self._state = {p: dict(optimizer.state.get(p, {})) for p in parameters}
        self._tensors = KeptTensors([*parameters, *self._tensors_beside()])

    def _tensors_beside(self) -> list[Any]:
        """Moments, and rates that are tensors."""
        torch = sys.modules["torch"]
        kept = [*self._state.values(), *self._settings]
        return [v for values in kept for v in values.values() if isinstance(v, torch.Tensor)]

    def restore(self) -> None:
        """State that the optimizer has made since is given up: it is made anew."""
        for group, settings in zip(self._optimizer.param_groups, self._settings):
            group.update(settings)
        for parameter, values in self._state.items():
            now = self._optimizer.state.setdefault(parameter, {})
            for key in [key for key in now if key not in values]:
                del now[key]
            now.update(values)
            if not values:
                del self._optimizer.state[parameter]
        for parameter in self._without_gradient:
            parameter.grad = None
        self._tensors.restore()
