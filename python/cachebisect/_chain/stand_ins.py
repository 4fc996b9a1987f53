"""Puts other callables into the slots of a dataset for a while. Not thread safe."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .slots import Slot
from .taking import Give, Taking


class Stand:
    """Takes the place of a slot's callable and looks like it to everything but its call."""

    __slots__ = ("_call", "_original")

    def __init__(self, original: Any, call: Callable[..., Any]) -> None:
        self._original = original
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_original"), name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance() asks for it.
        return type(object.__getattribute__(self, "_original"))


class Installed:
    """Puts a stand-in into each slot for the duration of a with block.

    `make(stage, original)` returns what is called instead. Calls inside a call go to the original:
    they are part of the outer one. What a Taking takes is made outside of it; `outside` makes it.
    """

    def __init__(
        self,
        slots: list[Slot],
        make: Callable[[int, Any], Callable[..., Any]],
        outside: Callable[[Give], Any] = lambda give: give(),
    ) -> None:
        self._slots = slots
        self._make = make
        self._outside = outside
        self._originals: list[Any] = []
        self._current: Optional[int] = None
        self.nested: set[tuple[int, int]] = set()
        """Stages, and those that were called inside of them."""

    def __enter__(self) -> Installed:
        for stage, slot in enumerate(self._slots):
            original = slot.get()
            self._originals.append(original)
            instead = self._make(stage, original)
            slot.put(Stand(original, self._outermost(stage, original, instead)))
            if isinstance(original, Taking):
                original.outside = self._leave
        return self

    def __exit__(self, *error: object) -> None:
        for slot, original in zip(reversed(self._slots), reversed(self._originals)):
            slot.put(original)
            if isinstance(original, Taking):
                original.outside = None
        self._originals.clear()

    def _outermost(
        self, stage: int, original: Any, instead: Callable[..., Any]
    ) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._current is not None:
                self.nested.add((self._current, stage))
                return original(*args, **kwargs)
            self._current = stage
            try:
                return instead(*args, **kwargs)
            finally:
                self._current = None

        return call

    def _leave(self, give: Give) -> Any:
        current, self._current = self._current, None
        try:
            return self._outside(give)
        finally:
            self._current = current
