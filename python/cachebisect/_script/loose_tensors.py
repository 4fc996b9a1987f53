"""Tensors of no module that training steps write to, such as an average of weights in a list."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable
from typing import Any


class LooseTensors:
    """Plain tensors that are alive, and how often each had been written to. Not thread safe."""

    def __init__(self) -> None:
        tensor_type = sys.modules["torch"].Tensor
        self._seen = [
            (weakref.ref(found), found._version)
            for found in gc.get_objects()
            if type(found) is tensor_type and _may_be_state(found)
        ]

    def written(self, parameters: Iterable[Any], known: Iterable[Any]) -> list[Any]:
        """Those written to since that have the shape and dtype of one of `parameters`, without
        gradients and those in `known`. Others may be a cache that the dataset fills."""
        alike, excluded = set(), {id(tensor) for tensor in known}
        for parameter in parameters:
            alike.add((parameter.shape, parameter.dtype))
            excluded |= {id(parameter), id(parameter.grad)}
        return [
            tensor
            for seen, version in self._seen
            if (tensor := seen()) is not None
            and id(tensor) not in excluded
            and (tensor.shape, tensor.dtype) in alike
            and tensor._version != version
        ]


def _may_be_state(tensor: Any) -> bool:
    """True for a tensor of no graph, with a count of writes, which an inference tensor has not."""
    return tensor.grad_fn is None and tensor._base is None and not tensor.is_inference()
