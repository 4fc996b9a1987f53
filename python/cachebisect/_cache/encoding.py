"""Values as bytes and back, for a cache that other processes and later runs read.

Tensors of the CPU are written as their own elements: not the storage that they are a view of. The
bytes are a pickle: read only those of a folder that nobody else can write to. Thread safe.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

from .._chain import trees


def encoded(value: Any, shared: list[Any]) -> bytes:
    """`value` as bytes. Objects in `shared`, such as the dataset, are named by their position.

    Raises what pickling raises, for values that cannot be stored.
    """
    file = io.BytesIO()
    _Pickler(file, shared).dump(value)
    return file.getvalue()


def decoded(data: bytes, shared: list[Any]) -> Any:
    """The value that encoded() wrote. Raises what unpickling raises."""
    return _Unpickler(io.BytesIO(data), shared).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file, protocol=5)
        self._positions = {id(value): position for position, value in enumerate(shared)}

    def persistent_id(self, value: Any) -> Any:
        return self._positions.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or type(value) is not torch.Tensor:
            return NotImplemented
        if not trees.is_dense(value) or value.device.type != "cpu" or value.requires_grad:
            return NotImplemented
        elements = value.contiguous().reshape(-1).view(torch.uint8).numpy()
        held = (pickle.PickleBuffer(elements), str(value.dtype)[len("torch.") :])
        return _tensor, (*held, tuple(value.shape))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, position: Any) -> Any:
        return self._shared[position]


def _tensor(elements: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    import torch

    if len(elements) == 0:
        return torch.empty(shape, dtype=getattr(torch, dtype))
    return torch.frombuffer(elements, dtype=getattr(torch, dtype)).reshape(shape)
