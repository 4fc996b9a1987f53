"""Walks, copies and measures nested batches: tensors, arrays, images, dicts, lists and tuples.

Everything else is a leaf, such as a graph or a data frame. No batch makes a function here raise.
torch, numpy and PIL are used only if the program has imported them. Thread safe: no state.
"""

from __future__ import annotations

import copy
import operator
import pickle
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Optional

PLAIN = (type(None), bool, int, float, complex, str, bytes)


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


def is_record(value: Any) -> bool:
    """True for an object of a dataclass with attributes, as torchcodec returns frames."""
    return hasattr(type(value), "__dataclass_fields__") and hasattr(value, "__dict__")


def _is_mapping(value: Any) -> bool:
    """Only of a declared type: a method named `keys` promises nothing."""
    return isinstance(value, Mapping)


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
        return _changed_mapping(tree, change)
    return change(tree)


def _changed_mapping(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A mapping of the same type, such as UserDict or TensorDict; a plain dict where none can be
    made."""
    before = {key: tree[key] for key in tree.keys()}
    changed = {key: map_leaves(value, change) for key, value in before.items()}
    try:
        rebuilt = copy.copy(tree)
        for key, value in changed.items():
            rebuilt[key] = value
        if all(tree[key] is value for key, value in before.items()):
            return rebuilt
        for key, value in before.items():  # The copy shares what it holds.
            tree[key] = value
    except Exception:  # It cannot be written to.
        pass
    return changed


def _rebuilt(tree: Any, items: list[Any]) -> Any:
    if type(tree) is list:
        return items
    try:
        return type(tree)(items)
    except TypeError:
        return tuple(items) if isinstance(tree, tuple) else items


def _clone_leaf(leaf: Any) -> Any:
    if isinstance(leaf, PLAIN):
        return leaf
    try:
        if is_tensor(leaf):
            return leaf.detach().clone()
        if is_array(leaf) or is_image(leaf):
            return leaf.copy()
        return copy.deepcopy(leaf)
    except Exception:  # An object that cannot be copied is shared.
        return leaf


def clone(tree: Any) -> Any:
    """A copy that shares no memory with `tree`, in private memory."""
    return map_leaves(tree, _clone_leaf)


def in_shared_memory(tree: Any) -> list[bool]:
    """For each leaf, in order: true for a tensor that lies in shared memory."""
    return [_is_shared(leaf) for leaf in leaves(tree)]


def _is_shared(leaf: Any) -> bool:
    return is_dense(leaf) and leaf.device.type == "cpu" and leaf.is_shared()


def is_dense(leaf: Any) -> bool:
    """True for a tensor that is one block of memory: neither sparse nor nested."""
    torch = _torch()
    return is_tensor(leaf) and leaf.layout == torch.strided and not leaf.is_nested


def clone_as_allocated(tree: Any, shared: Iterable[bool]) -> Any:
    """A copy whose tensors lie in shared memory where `shared` says so, leaf by leaf.

    A worker's default_collate allocates in shared memory; sending moves every other tensor there.
    """
    flags = iter(shared)

    def cloned(leaf: Any) -> Any:
        return _clone_shared(leaf) if next(flags, False) else _clone_leaf(leaf)

    return map_leaves(tree, cloned)


def _clone_shared(leaf: Any) -> Any:
    torch = _torch()
    out = torch.empty(0, dtype=leaf.dtype)
    try:  # As default_collate allocates.
        out = out.set_(out._typed_storage()._new_shared(leaf.numel())).resize_(leaf.shape)
    except AttributeError:
        out = torch.empty(leaf.shape, dtype=leaf.dtype).share_memory_()
    return out.copy_(leaf.detach())


def _leaf_digest(leaf: Any, crc: int) -> int:
    try:
        if is_tensor(leaf):
            return _tensor_digest(leaf, crc)
        if is_array(leaf):
            return crc if leaf.dtype.hasobject else zlib.crc32(leaf.tobytes(), crc)
        if is_image(leaf):
            return zlib.crc32(leaf.tobytes(), crc)
        return zlib.crc32(pickle.dumps(leaf), crc)
    except Exception:  # Cannot be seen to change.
        return crc


def _tensor_digest(tensor: Any, crc: int) -> int:
    if not is_dense(tensor):
        return crc
    flat = tensor.detach().to("cpu").contiguous().reshape(-1)
    if flat.numel() == 0:
        return crc
    return zlib.crc32(flat.view(_torch().uint8).numpy(), crc)


def digest(tree: Any) -> int:
    """A checksum of structure and contents. Sparse and nested tensors are left out, and objects
    that cannot be pickled."""
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
    """The length of the first dimension of the first array of any library (torch, NumPy, JAX,
    TensorFlow, pandas); None if there is none."""
    for leaf in leaves(batch):
        try:
            shape = getattr(leaf, "shape", None)
            if shape is not None and len(shape) > 0:
                return operator.index(shape[0])
        except Exception:  # No shape of numbers.
            continue
    return None


def to_device(batch: Any, device: Any, non_blocking: bool = False) -> Any:
    """`batch` with every tensor on `device`, and every object that has a method `to`; other values
    are shared."""

    def moved(leaf: Any) -> Any:
        if is_tensor(leaf):
            return leaf.to(device, non_blocking=non_blocking)
        try:
            # Some move themselves.
            return _clone_leaf(leaf).to(device) if callable(getattr(leaf, "to", None)) else leaf
        except Exception:  # A method of the same name for something else.
            return leaf

    return map_leaves(batch, moved)
