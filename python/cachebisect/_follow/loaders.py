"""Every iterator of a DataLoader that a script opens, seen by one patch.

Three ways lead to one: `DataLoader.__iter__`; `DataLoader._get_iterator`, which some subclasses
call themselves; and the `__iter__` of a subclass. An iterator may be opened while another one of
the same loader is: both are seen, and the subscriber chooses.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from enum import Enum
from typing import Any, Callable, Protocol

Open = Callable[[Any], Iterator[Any]]
"""Makes the iterator of a loader, as it was before it was replaced."""


class Level(Enum):
    """Where an iterator comes from."""

    BASE = "DataLoader.__iter__"
    GET_ITERATOR = "DataLoader._get_iterator"
    SUBCLASS = "the __iter__ of a subclass"
    NAMED = "what --iterator names"


class LoaderSubscriber(Protocol):
    """What follow_loaders() calls, in the thread of the script that iterates."""

    def opens(self, loader: Any) -> bool:
        """True while an iterator of `loader` is being made by what is watched."""

    def iterator(self, loader: Any, original: Open, level: Level) -> Iterator[Any]:
        """What the script iterates in place of `original(loader)`. Raises what that raises."""


def follow_loaders(subscriber: LoaderSubscriber, dataloader: Any) -> None:
    """Patches the DataLoader class of the module `dataloader` (torch.utils.data.dataloader)."""
    base = dataloader.DataLoader
    original_iter: Open = base.__iter__
    original_get: Open = base._get_iterator

    @functools.wraps(original_iter)
    def __iter__(self: Any) -> Iterator[Any]:
        return subscriber.iterator(self, original_iter, Level.BASE)

    @functools.wraps(original_get)
    def _get_iterator(self: Any) -> Iterator[Any]:
        if subscriber.opens(self):  # By DataLoader.__iter__, which is seen.
            return original_get(self)
        return subscriber.iterator(self, original_get, Level.GET_ITERATOR)

    def __init_subclass__(cls: Any, /, **options: Any) -> None:
        super(base, cls).__init_subclass__(**options)
        _watch(subscriber, cls)

    base.__iter__ = __iter__
    base._get_iterator = _get_iterator
    base.__init_subclass__ = classmethod(__init_subclass__)


def _watch(subscriber: LoaderSubscriber, subclass: Any) -> None:
    original = vars(subclass).get("__iter__")
    if not callable(original):
        return

    @functools.wraps(original)
    def __iter__(self: Any) -> Iterator[Any]:
        return subscriber.iterator(self, original, Level.SUBCLASS)

    subclass.__iter__ = __iter__
