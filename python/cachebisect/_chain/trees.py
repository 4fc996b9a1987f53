"""Walks, copies and measures nested batches: tensors, arrays, images, dicts, lists and tuples.

torch, numpy and PIL are used only if the program has imported them. Thread safe: no state.
"""

from __future__ import annotations

import copy
import pickle
import sys
import zlib
from collections.abc import Iterator
from typing import Any, Callable, Optional

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def _torch() -> Any:
    return sys.modules.get("torch")


def is_tensor(value: Any) -> bool:
    """True for a torch.Tensor."""
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """True for a numpy.ndarray."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_image(value: Any) -> bool:
    """True for a PIL image."""
    pil = sys.modules.get("PIL.Image")
    return pil is not None and isinstance(value, pil.Image)


def is_data(value: Any) -> bool:
    """True for tensors, arrays and images."""
    return is_tensor(value) or is_array(value) or is_image(value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__"))


def leaves(tree: Any) -> Iterator[Any]:
    """Every value in `tree` that is not a dict, list or tuple, in order."""
    if _is_mapping(tree):
        for key in tree.keys():
            yield from leaves(tree[key])
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    else:
        yield tree


def map_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A tree of the same structure with every leaf replaced by `change(leaf)`."""
    if type(tree) is dict:
        return {key: map_leaves(item, change) for key, item in tree.items()}
    if isinstance(tree, list):
        return _rebuilt(tree, [map_leaves(item, change) for item in tree])
    if isinstance(tree, tuple):
        items = [map_leaves(item, change) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else _rebuilt(tree, items)
    if _is_mapping(tree):
        changed = copy.copy(tree)
        for key in list(tree.keys()):
            changed[key] = map_leaves(tree[key], change)
        return changed
    return change(tree)


def _rebuilt(tree: Any, items: list[Any]) -> Any:
    if type(tree) is list:
        return items
    try:
        return type(tree)(items)
    except TypeError:
        return tuple(items) if isinstance(tree, tuple) else items


def _clone_leaf(leaf: Any) -> Any:
    if isinstance(leaf, _PLAIN):
        return leaf
    if is_tensor(leaf):
        return leaf.detach().clone()
    if is_array(leaf) or is_image(leaf):
        return leaf.copy()
    try:
        return copy.deepcopy(leaf)
    except Exception:  # An object that cannot be copied is shared.
        return leaf


def clone(tree: Any) -> Any:
    """A copy that shares no memory with `tree`, in private memory."""
    return map_leaves(tree, _clone_leaf)


def _clone_as_allocated(leaf: Any) -> Any:
    if not is_tensor(leaf) or leaf.device.type != "cpu" or not leaf.is_shared():
        return _clone_leaf(leaf)
    torch = _torch()
    out = torch.empty(0, dtype=leaf.dtype)
    try:  # As default_collate allocates.
        out = out.set_(out._typed_storage()._new_shared(leaf.numel())).resize_(leaf.shape)
    except AttributeError:
        out = torch.empty(leaf.shape, dtype=leaf.dtype).share_memory_()
    return out.copy_(leaf.detach())


def clone_as_allocated(tree: Any) -> Any:
    """A copy whose tensors lie in shared memory where those of `tree` do.

    A worker's default_collate allocates in shared memory; sending moves every other tensor there.
    """
    return map_leaves(tree, _clone_as_allocated)


def _leaf_bytes(leaf: Any) -> int:
    if is_tensor(leaf):
        return int(leaf.numel() * leaf.element_size())
    if is_array(leaf):
        return int(leaf.nbytes)
    if is_image(leaf):
        return int(leaf.width * leaf.height * len(leaf.getbands()))
    if isinstance(leaf, (str, bytes)):
        return len(leaf)
    return sys.getsizeof(leaf, 64)


def nbytes(tree: Any) -> int:
    """Bytes that the leaves of `tree` hold, estimated for objects of unknown types."""
    return sum(_leaf_bytes(leaf) for leaf in leaves(tree))


def _leaf_digest(leaf: Any, crc: int) -> int:
    if is_tensor(leaf):
        torch = _torch()
        flat = leaf.detach().to("cpu").contiguous().reshape(-1)
        if flat.numel() == 0:
            return crc
        return zlib.crc32(flat.view(torch.uint8).numpy(), crc)
    if is_array(leaf):
        return crc if leaf.dtype.hasobject else zlib.crc32(leaf.tobytes(), crc)
    if is_image(leaf):
        return zlib.crc32(leaf.tobytes(), crc)
    try:
        return zlib.crc32(pickle.dumps(leaf), crc)
    except Exception:  # Cannot be seen to change.
        return crc


def digest(tree: Any) -> int:
    """A checksum of structure and contents. Objects that cannot be pickled are left out."""
    crc = 0
    if _is_mapping(tree):
        for key in tree.keys():
            crc = zlib.crc32(repr((key, digest(tree[key]))).encode(), crc)
        return crc
    if isinstance(tree, (list, tuple)):
        for item in tree:
            crc = zlib.crc32(repr(digest(item)).encode(), crc)
        return zlib.crc32(str(len(tree)).encode(), crc)
    return _leaf_digest(tree, crc)


def describe(tree: Any, limit: int = 4) -> str:
    """dtypes, shapes and types in words, such as "float32 [64, 3, 32, 32], int64 [64]"."""
    words: list[str] = []
    for leaf in leaves(tree):
        if len(words) == limit:
            words.append("...")
            break
        if is_tensor(leaf) or is_array(leaf):
            words.append(f"{str(leaf.dtype).replace('torch.', '')} {list(leaf.shape)}")
        elif is_image(leaf):
            words.append(f"PIL {leaf.mode} {leaf.width}x{leaf.height}")
        else:
            words.append(type(leaf).__name__)
    return ", ".join(words)


def count_samples(batch: Any) -> Optional[int]:
    """The length of the first dimension of the first tensor or array; None if there is none."""
    for leaf in leaves(batch):
        if (is_tensor(leaf) or is_array(leaf)) and leaf.ndim > 0:
            return int(leaf.shape[0])
    return None


def to_device(batch: Any, device: Any, non_blocking: bool = False) -> Any:
    """`batch` with every tensor on `device`; other values are shared."""

    def moved(leaf: Any) -> Any:
        return leaf.to(device, non_blocking=non_blocking) if is_tensor(leaf) else leaf

    return map_leaves(batch, moved)
