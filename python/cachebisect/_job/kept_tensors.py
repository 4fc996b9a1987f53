"""Keeps the values of tensors on the host, and gives them back in place.

In place: a compiled optimizer and a CUDA graph go on using the same memory. Not thread safe.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from .._chain import trees


class KeptTensors:
    """The values of `tensors` at the time of construction: one copy in host memory, pinned where a
    tensor lies on a CUDA device. Sparse, nested and meta tensors are left out. Raises what the copy
    raises, such as for a lack of memory."""

    def __init__(self, tensors: Iterable[Any]) -> None:
        self._tensors = [t for t in tensors if trees.is_dense(t) and not t.is_meta]
        self._kept = [_on_host(_local(tensor)) for tensor in self._tensors]

    def __len__(self) -> int:
        return len(self._tensors)

    def restore(self) -> None:
        """Gives every tensor its kept value back.

        By `data`: a step that is between its forward and its backward pass must not be told that
        what it saved was written to.
        """
        for tensor, kept in zip(self._tensors, self._kept):
            _local(tensor).data.copy_(kept, non_blocking=True)


def _local(tensor: Any) -> Any:
    """The part of a distributed tensor that this process holds; without gradients."""
    part = getattr(tensor, "to_local", None)
    return (part() if callable(part) else tensor).detach()


def _on_host(tensor: Any) -> Any:
    torch = sys.modules["torch"]
    pinned = tensor.device.type == "cuda"
    kept = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=pinned)
    return kept.copy_(tensor)


class KeptOptimizer:
    """The parameters that a torch optimizer steps, its state and its settings, such as rates."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._without_gradient = [p for p in parameters if p.grad is None]
        self._settings = [
            {key: _structure(value) for key, value in group.items() if key != "params"}
            for group in optimizer.param_groups
        ]
        self._state = {p: _structure(optimizer.state.get(p, {})) for p in parameters}
        self._tensors = KeptTensors([*parameters, *self._state_tensors()])

    def _state_tensors(self) -> Iterator[Any]:
        """Moments, histories, and rates that are tensors."""
        for values in [*self._state.values(), *self._settings]:
            yield from (leaf for leaf in trees.leaves(values) if trees.is_tensor(leaf))

    def restore(self) -> None:
        """State that the optimizer has made since is given up: it is made anew."""
        for group, settings in zip(self._optimizer.param_groups, self._settings):
            group.update(_structure(settings))
        for parameter, values in self._state.items():
            now = self._optimizer.state.setdefault(parameter, {})
            for key in [key for key in now if key not in values]:
                del now[key]
            now.update(_structure(values))
            if not values:
                del self._optimizer.state[parameter]
        for parameter in self._without_gradient:
            parameter.grad = None
        self._tensors.restore()


def _structure(values: Any) -> Any:
    """Containers are copied, since steps change them; what they hold is the same."""
    return trees.map_leaves(values, lambda leaf: leaf)
