"""Sees how the step moves batches to its device. Nothing is watched on a machine without one.

While a MoveWatch is on, methods of torch.Tensor are replaced by ones that look at their arguments.
That is done in the first two steps alone, which no figure counts.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import Any, Callable, Optional

_METHODS = ("to", "cuda", "copy_")

_watches: weakref.WeakSet[MoveWatch] = weakref.WeakSet()
"""Those that are on. Loaders may be iterated inside one another: the methods are replaced once."""
_replaced: dict[str, Any] = {}
"""What torch.Tensor itself had in place of each method that is replaced; None: nothing."""


class MoveWatch:
    """What tensors went from the CPU to a device while it was on. Use from one thread."""

    def __init__(self) -> None:
        self._waiting_bytes = 0
        self._other_bytes = 0
        self._bytes_by_device: dict[Any, int] = {}

    def start(self) -> None:
        """Does nothing as long as the program has not used a device."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            _watches.add(self)
            _replace_methods(torch.Tensor)

    def stop(self) -> None:
        """May be called without start()."""
        if _replaced and self in _watches:
            _watches.discard(self)
            _put_back_if_unwatched()

    def non_blocking(self) -> Optional[bool]:
        """True if the larger part was moved with non_blocking=True; None if no move was seen."""
        if self._waiting_bytes + self._other_bytes == 0:
            return None
        return self._other_bytes > self._waiting_bytes

    def device(self) -> Any:
        """The torch.device that most was moved to; None if no move was seen."""
        moved = self._bytes_by_device
        return max(moved, key=lambda device: moved[device]) if moved else None

    def note(self, tensor: Any, device: Any, non_blocking: bool) -> None:
        """`tensor` was moved to `device`."""
        size = max(1, int(tensor.numel() * tensor.element_size()))
        self._bytes_by_device[device] = self._bytes_by_device.get(device, 0) + size
        if non_blocking:
            self._other_bytes += size
        else:
            self._waiting_bytes += size


def _replace_methods(tensor_type: Any) -> None:
    if _replaced:
        return
    for name in _METHODS:
        original = getattr(tensor_type, name)
        _replaced[name] = vars(tensor_type).get(name)
        setattr(tensor_type, name, _watched(name, original))


def _put_back_if_unwatched() -> None:
    if _watches or not _replaced:
        return
    tensor_type = sys.modules["torch"].Tensor
    for name, before in _replaced.items():
        if before is None:
            delattr(tensor_type, name)
        else:
            setattr(tensor_type, name, before)
    _replaced.clear()


def _watched(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(tensor, *args, **kwargs)
        with contextlib.suppress(Exception):  # The step is the user's.
            _note(name, tensor, result, args, kwargs)
        return result

    return call


def _note(
    name: str, tensor: Any, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    source = args[0] if name == "copy_" and args else tensor
    if _moved(source, result):
        for watch in list(_watches):
            watch.note(source, result.device, _says_non_blocking(args, kwargs))
    _put_back_if_unwatched()  # An iterator that was given up has not stopped its watch.


def _moved(source: Any, result: Any) -> bool:
    """Other types are no batches: parameters, and what a compiler traces with."""
    plain = sys.modules["torch"].Tensor
    if type(source) is not plain or type(result) is not plain:
        return False
    return bool(source.device.type == "cpu" != result.device.type)


def _says_non_blocking(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """The `non_blocking` of `to(device, dtype, non_blocking)`, `to(dtype, non_blocking)`,
    `to(other, non_blocking)`, `cuda(device, non_blocking)` and `copy_(other, non_blocking)`: by
    keyword, else the first bool by position."""
    if "non_blocking" in kwargs:
        return bool(kwargs["non_blocking"])
    return next((value for value in args[1:] if isinstance(value, bool)), False)
