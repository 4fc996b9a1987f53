"""Tensors of a batch that are mostly zeros, or end in padding. Thread safe: no state."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

_LEAST_LENGTH = 16
"""Of an axis that is padded."""
_LEAST_USED = 0.5
"""Of the places before the padding that hold something else: rows, not scattered values."""
_MOST_NONZERO = 0.1
"""Of the values of a tensor that is sent as positions and values."""
_POSITION_BYTES = 4
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class Emptiness:
    """What is in a tensor without need. `saved`: bytes of the batch."""

    saved: float
    how: str
    line: str


@dataclass(frozen=True)
class _Padding:
    axis: int
    value: Any
    lengths: Any
    """Of the samples, without padding."""
    length: int

    @property
    def share(self) -> float:
        return 1 - float(self.lengths.sum()) / (len(self.lengths) * self.length)


def emptiness_of(name: str, tensor: Any, samples: int) -> Optional[Emptiness]:
    """Of a dense tensor that the code calls `name`, of a batch of so many samples."""
    padding = _padding_of(tensor, samples)
    return _without_padding(name, tensor, padding) if padding else _as_positions(name, tensor)


def _padding_of(tensor: Any, samples: int) -> Optional[_Padding]:
    """Of [samples, length] and of [samples, length, features], in either order of these two."""
    if samples < 2 or tensor.dim() not in (2, 3) or tensor.shape[0] != samples:
        return None
    if tensor.dim() == 3 and not tensor.is_floating_point():
        return None  # Label images, which end in background.
    found = [each for axis in range(1, tensor.dim()) for each in _padding_along(tensor, axis)]
    return max(found, key=lambda padding: padding.share, default=None)


def _padding_along(tensor: Any, axis: int) -> Iterator[_Padding]:
    torch = sys.modules["torch"]
    length = tensor.shape[axis]
    if length < _LEAST_LENGTH:
        return
    last = tensor.select(axis, -1).reshape(tensor.shape[0], -1)
    ends = last[(last == last[:, :1]).all(dim=1), 0]
    if len(ends) == 0:
        return
    value = ends.mode().values
    used = tensor != value
    if tensor.dim() == 3:
        used = used.any(dim=3 - axis)
    places = torch.arange(1, length + 1, device=tensor.device)
    lengths = (used * places).amax(dim=1)
    inside = int(lengths.sum())
    if inside > 0 and int(used.sum()) >= _LEAST_USED * inside:
        yield _Padding(axis, value.item(), lengths, length)


def _without_padding(name: str, tensor: Any, padding: _Padding) -> Emptiness:
    longest = int(padding.lengths.amax())
    size = tensor.numel() * tensor.element_size()
    how = (
        f"{padding.share:.0%} of {name} ({kind_of(tensor)}) is padding, {padding.value:g} at the "
        f"end of axis {padding.axis}"
    )
    beyond = 1 - longest / padding.length
    if beyond >= padding.share / 2:
        saved = size * beyond
        how += f", and the longest sample takes {longest} of {padding.length}: pad to the longest"
        line = (
            f"{name} = {name}.narrow({padding.axis}, 0, {longest})  "
            "# in collate_fn, with the length of the longest sample of the batch"
        )
        return Emptiness(saved, how, line)
    saved = size * padding.share - _LENGTH_BYTES * len(padding.lengths)
    how += ": put samples of similar length into a batch"
    line = (
        "DataLoader(..., batch_sampler=...)  # of samples sorted by length, some batches at a "
        "time; transformers: TrainingArguments(group_by_length=True)"
    )
    return Emptiness(saved, how, line)


def _as_positions(name: str, tensor: Any) -> Optional[Emptiness]:
    if tensor.element_size() < 2 or tensor.numel() == 0:
        return None
    values = int(tensor.count_nonzero())
    if values > _MOST_NONZERO * tensor.numel():
        return None
    saved = tensor.numel() * tensor.element_size() - values * (
        tensor.element_size() + _POSITION_BYTES
    )
    zeros = 1 - values / tensor.numel()
    kind, shape = kind_of(tensor), tuple(tensor.shape)
    how = f"{zeros:.0%} of {name} ({kind}) is zero: positions and values hold it"
    line = (
        f"places = {name}.flatten().nonzero()[:, 0]; {name} = (places.int(), "
        f"{name}.flatten()[places])  # in collate_fn; on the device torch.zeros({tensor.numel()}, "
        f"dtype=torch.{kind}).scatter(0, places.long(), values).view{shape}"
    )
    return Emptiness(saved, how, line)


def kind_of(tensor: Any) -> str:
    """The name of its type: "float32"."""
    return str(tensor.dtype).replace("torch.", "")
