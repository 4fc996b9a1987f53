"""Functions and methods of imported libraries that read or decode samples."""

from __future__ import annotations

import sys
from typing import Any

from .slots import Slot, attribute_slot, datasets_within, method_slot

_FUNCTIONS = (
    ("PIL.Image", "open", "decode"),
    ("cv2", "imread", "decode"),
    ("cv2", "imdecode", "decode"),
    ("numpy", "load", "read"),
    ("torch", "load", "read"),
    ("torchvision.io", "read_image", "decode"),
    ("torchvision.io", "decode_image", "decode"),
    ("torchvision.io", "decode_jpeg", "decode"),
    ("torchvision.io", "read_file", "read"),
)
_METHODS = (
    ("h5py", "Dataset", "__getitem__"),
    ("zarr", "Array", "__getitem__"),
    ("datasets", "Dataset", "__getitem__"),
)


def library_slots(dataset: Any) -> list[Slot]:
    """What `dataset` may call. The result of a function is loaded at once.

    The methods of `dataset` itself are left out: they are its `read` stage.
    """
    found = []
    for module_name, function, category in _FUNCTIONS:
        module = sys.modules.get(module_name)
        if module is not None and callable(getattr(module, function, None)):
            slot = attribute_slot(module, function)
            slot.name = f"{module_name.split('.')[0]}.{function}"
            slot.category = category
            found.append(slot)
    outermost = _unwrapped(dataset)
    for module_name, class_name, method in _METHODS:
        owner = getattr(sys.modules.get(module_name), class_name, None)
        if not isinstance(owner, type) or isinstance(outermost, owner):
            continue
        if callable(vars(owner).get(method)):
            found.append(method_slot(owner, method))
    return found


def _unwrapped(dataset: Any) -> Any:
    """The dataset behind any Subset."""
    while type(dataset).__name__ == "Subset" and len(datasets_within(dataset)) > 1:
        dataset = datasets_within(dataset)[1]
    return dataset
