"""Stages that take, while they are called, what the stages before them make.

Such a stage stands between two iterators: a call gives the next item, and runs all that makes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, Optional

Give = Callable[[], Any]


class Taking(ABC):
    """One such stage. Not thread safe."""

    def __init__(self) -> None:
        self.outside: Optional[Callable[[Give], Any]] = None
        """Calls what gives an item: it is no part of this stage."""
        self.note: Optional[Callable[[Any], None]] = None
        """Is told of each item that is taken."""

    def taken(self, give: Give) -> Any:
        """The item of `give`, for the code of the stage. Raises what `give` raises."""
        item = give() if self.outside is None else self.outside(give)
        if self.note is not None:
            self.note(item)
        return item

    @abstractmethod
    def __call__(self) -> Any:
        """The next item. Raises StopIteration at the end."""

    @abstractmethod
    def take(self, count: int) -> None:
        """Takes so many items, of which nothing is made. Raises StopIteration at the end."""

    @abstractmethod
    def again(self, items: list[Any]) -> Any:
        """An item that is made of `items`, which were taken for one before."""


def pass_over(function: Any, arguments: tuple[Any, ...]) -> None:
    """For a call that is answered in place of being made: takes what it would take. `arguments`:
    of the recorded call that answers. Functions that are no Taking take nothing."""
    if isinstance(function, Taking):
        function.take(len(arguments[0]))
