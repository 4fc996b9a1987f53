"""On which device the batches of an iterator lie. Thread safe: no state."""

from __future__ import annotations

import sys
from typing import Any, Optional

from . import trees

_TIMED = ("cpu", "cuda", "meta")
"""Kinds of torch.device whose steps can be timed."""


class UntimedDevice(Exception):
    """Batches lie where the time of a step cannot be measured."""


def refuse_untimed(batch: Any) -> None:
    """Raises UntimedDevice, with its name, if a part of `batch` lies on a device whose queue is not
    timed."""
    where = untimed(batch)
    if where is not None:
        raise UntimedDevice(refusal_of(where))


def untimed(batch: Any) -> Optional[str]:
    """ "jax.Array on cuda:0": the first part of `batch` on such a device; None if there is none."""
    return next((found for leaf in trees.leaves(batch) if (found := _untimed(leaf))), None)


def refusal_of(where: str) -> str:
    """What the user is told. `where`: as untimed() gives it."""
    return (
        f"batches are {where}; the queue of that device is not timed, only those of torch on CPU "
        "and CUDA are: let the iterator give arrays in host memory, and call "
        "cachebisect.bisect(loader, step) in the script, with a step that moves them and waits for "
        "its result"
    )


def lies_on_device(batch: Any) -> bool:
    """True if `batch` holds tensors, and no part of its data lies in host memory."""
    data = [leaf for leaf in trees.leaves(batch) if trees.is_data(leaf)]
    return bool(data) and all(trees.is_tensor(d) and d.device.type != "cpu" for d in data)


def _untimed(leaf: Any) -> Optional[str]:
    """ "jax.Array on cuda:0"; None for a value in host memory, or that is no array."""
    try:
        if trees.is_tensor(leaf):
            timed = leaf.device.type in _TIMED
            return None if timed else f"torch.Tensor on {leaf.device}"
        return _untimed_of_jax(leaf) or _untimed_of_tensorflow(leaf)
    except Exception:  # An array that tells nothing of itself, such as a deleted one.
        return None


def _untimed_of_jax(leaf: Any) -> Optional[str]:
    array = getattr(sys.modules.get("jax"), "Array", None)
    if array is None or not isinstance(leaf, array):
        return None
    device = next(iter(leaf.devices()))
    return None if device.platform == "cpu" else f"jax.Array on {device}"


def _untimed_of_tensorflow(leaf: Any) -> Optional[str]:
    tensor = getattr(sys.modules.get("tensorflow"), "Tensor", None)
    if tensor is None or not isinstance(leaf, tensor):
        return None
    device = str(leaf.device).rpartition("device:")[2]
    return None if device.startswith("CPU") else f"tf.Tensor on {device}"
