"""Tensors of a batch that fewer bytes would hold: whole numbers in wide types, one-hot labels,
masks, padding, zeros. Thread safe: no state."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .emptiness import emptiness_of, kind_of
from .tree_sizes import nbytes
from .trees import is_dense, is_tensor

_LEAST_SHARE = 0.02
"""Of the bytes of a batch; less is not worth a change."""
_LEAST_BYTES = 1024
"""Of a sample, likewise."""
_MOST_OF = 0.9
"""Of the bytes of a tensor: little is left then."""
_MASK_VALUES = 64
"""Of a sample: fewer are labels."""
_MOST_VALUES = 1 << 26
"""Of a tensor that is looked at."""
_NARROW = (("uint8", 0, 255), ("int16", -(1 << 15), (1 << 15) - 1),
           ("int32", -(1 << 31), (1 << 31) - 1))  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """`saved`: bytes of a sample."""

    saved: float
    text: str
    line: str
    narrower: bool = True
    """By another type; False: by leaving something out."""


def findings(batch: Any, samples: int) -> list[Finding]:
    """Those of `batch`, which holds so many samples, the largest first. Raises nothing."""
    found: list[Finding] = []
    total = nbytes(batch) / max(1, samples)
    for name, tensor in named_tensors(batch, "batch"):
        try:
            found += _findings(name, tensor, max(1, samples), total)
        except Exception:  # A type that has no order, or a device that has no room.
            continue
    least = max(_LEAST_BYTES, _LEAST_SHARE * total)
    found = [finding for finding in found if finding.saved >= least]
    return sorted(found, key=lambda finding: -finding.saved)


def _findings(name: str, tensor: Any, samples: int, total: float) -> Iterator[Finding]:
    if not is_dense(tensor) or tensor.is_meta or not 0 < tensor.numel() <= _MOST_VALUES:
        return
    narrower = _in_fewer_bits(name, tensor, samples, total)
    if narrower is not None:
        yield narrower
        if narrower.saved > tensor.numel() * tensor.element_size() / samples * _MOST_OF:
            return
    empty = emptiness_of(name, tensor, samples)
    if empty is not None:
        saved = empty.saved / samples
        yield Finding(saved, _text(empty.how, saved, total), empty.line, narrower=False)


def _in_fewer_bits(name: str, tensor: Any, samples: int, total: float) -> Optional[Finding]:
    torch = sys.modules["torch"]
    values, size = tensor.numel() / samples, tensor.element_size()
    kind = kind_of(tensor)
    if tensor.dtype == torch.bool:
        least, most = 0.0, 1.0
    elif tensor.is_complex() or (tensor.is_floating_point() and not _whole(tensor)):
        return None
    else:
        least, most = (float(bound) for bound in torch.aminmax(tensor))
    if least >= 0 and most <= 1 and _is_one_hot(tensor):
        saved = values * size - 8
        how = f"{name} ({kind}) is one-hot: one number holds each row"
        numbers = f"{name}.byte()" if tensor.dtype == torch.bool else name
        line = (
            f"{name} = {numbers}.argmax(dim=-1)  "
            "# in collate_fn; torch.nn.functional.one_hot() on the device, or a loss of numbers"
        )
        return Finding(saved, _text(how, saved, total), line)
    if least >= 0 and most <= 1 and values >= _MASK_VALUES:
        saved = values * (size - 1 / 8)
        how = f"{name} ({kind}) holds zeros and ones alone: eight of them fit into a byte"
        line = (
            f"{name} = torch.from_numpy(numpy.packbits({name}.numpy() != 0, axis=-1))  "
            "# in collate_fn; on the device (packed[..., None] >> bits) & 1"
        )
        return Finding(saved, _text(how, saved, total), line)
    for narrow, low, high in _NARROW:
        width = torch.empty(0, dtype=getattr(torch, narrow)).element_size()
        if low <= least and most <= high and width < size:
            saved = values * (size - width)
            how = f"{name} ({kind}) holds whole numbers from {least:.0f} to {most:.0f}: {narrow}"
            line = (
                f"{name} = {name}.to(torch.{narrow})  "
                f"# in collate_fn; .to(torch.{kind}) on the device"
            )
            return Finding(saved, _text(f"{how} holds them", saved, total), line)
    return None


def _text(how: str, saved: float, total: float) -> str:
    return f"{how}, which saves {saved:,.0f} of the {total:,.0f} bytes of a sample, by one batch"


def _whole(tensor: Any) -> bool:
    return bool((tensor == tensor.round()).all())


def _is_one_hot(tensor: Any) -> bool:
    """Rows of zeros and a one; the values are known to be zeros and ones."""
    return tensor.dim() == 2 and bool((tensor.sum(dim=-1) == 1).all())


def named_tensors(tree: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Those in dicts, lists and tuples, with the code that gives them: "batch['image'][0]"."""
    if is_tensor(tree):
        yield name, tree
    elif isinstance(tree, Mapping):
        for key in tree:
            yield from named_tensors(tree[key], f"{name}[{key!r}]")
    elif isinstance(tree, (list, tuple)):
        for place, item in enumerate(tree):
            yield from named_tensors(item, f"{name}[{place}]")
