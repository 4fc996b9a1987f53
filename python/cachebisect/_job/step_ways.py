"""Other ways to compute what a model computes: its `forward`, wrapped. Thread safe: no state."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from .._chain import trees
from .step_in_force import Forward


def compiled(forward: Forward) -> Forward:
    """By torch.compile; what that raises, the first calls raise."""
    torch = sys.modules["torch"]
    made: Forward = torch.compile(forward)
    return made


def in_this_process() -> contextlib.AbstractContextManager[Any]:
    """What is compiled now starts no processes: they would outlive the measurement."""
    try:
        import torch._inductor.config as inductor
    except ImportError:
        return contextlib.nullcontext()
    patch: Any = inductor.patch
    return patch(compile_threads=1)  # type: ignore[no-any-return]


def autocast_is_on(kind: str) -> bool:
    """On devices of a kind, "cpu" or "cuda"."""
    torch = sys.modules["torch"]
    try:
        return bool(torch.is_autocast_enabled(kind))
    except TypeError:  # Before torch 2.4.
        of_cpu = torch.is_autocast_cpu_enabled
        return bool(of_cpu() if kind == "cpu" else torch.is_autocast_enabled())


def autocast(forward: Forward, kind: str) -> Forward:
    """On a kind of device, in bfloat16 where that serves. What comes out is in float32 again, as
    the loss wants it."""
    torch = sys.modules["torch"]

    def computed(*given: Any, **named: Any) -> Any:
        with torch.autocast(kind, dtype=torch.bfloat16):
            out = forward(*given, **named)
        return trees.map_leaves(out, _widened)

    return computed


def _widened(leaf: Any) -> Any:
    is_half = trees.is_tensor(leaf) and leaf.dtype == sys.modules["torch"].bfloat16
    return leaf.float() if is_half else leaf


def channels_last(forward: Forward) -> Forward:
    """Images lie in memory as the weights do, channel by channel for each pixel."""

    def computed(*given: Any, **named: Any) -> Any:
        given, named = trees.map_leaves((given, named), _laid_out)
        return forward(*given, **named)

    return computed


def _laid_out(leaf: Any) -> Any:
    if not trees.is_tensor(leaf) or leaf.dim() != 4:
        return leaf
    return leaf.contiguous(memory_format=sys.modules["torch"].channels_last)
