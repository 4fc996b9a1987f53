"""Lets a Session see every iterator of a DataLoader that a script opens.

Three ways lead to one: `DataLoader.__iter__`; `DataLoader._get_iterator`, which some subclasses
call themselves; and the `__iter__` of a subclass. An iterator may be opened while another one of
the same loader is: both are seen, and the Session chooses.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, Callable

from .._chain.optimizer_steps import follow_steps

if TYPE_CHECKING:
    from .session import Session

Open = Callable[[Any], Iterator[Any]]
"""Makes the iterator of a loader, as it was before it was replaced."""


class Level(Enum):
    """Where an iterator comes from."""

    BASE = "DataLoader.__iter__"
    GET_ITERATOR = "DataLoader._get_iterator"
    SUBCLASS = "the __iter__ of a subclass"


def install(session: Session, dataloader: Any) -> None:
    """Patches the DataLoader class of the module `dataloader` (torch.utils.data.dataloader)."""
    base = dataloader.DataLoader
    original_iter: Open = base.__iter__
    original_get: Open = base._get_iterator

    @functools.wraps(original_iter)
    def __iter__(self: Any) -> Iterator[Any]:
        return session.iterator(self, original_iter, Level.BASE)

    @functools.wraps(original_get)
    def _get_iterator(self: Any) -> Iterator[Any]:
        if session.opens(self):  # By DataLoader.__iter__, which is seen.
            return original_get(self)
        return session.iterator(self, original_get, Level.GET_ITERATOR)

    def __init_subclass__(cls: Any, /, **options: Any) -> None:
        super(base, cls).__init_subclass__(**options)
        _watch(session, cls)

    base.__iter__ = __iter__
    base._get_iterator = _get_iterator
    base.__init_subclass__ = classmethod(__init_subclass__)


def _watch(session: Session, subclass: Any) -> None:
    original = vars(subclass).get("__iter__")
    if not callable(original):
        return

    @functools.wraps(original)
    def __iter__(self: Any) -> Iterator[Any]:
        return session.iterator(self, original, Level.SUBCLASS)

    subclass.__iter__ = __iter__


def watch_optimizers(session: Session, optimizer_module: Any) -> None:
    """Counts the steps of every torch optimizer. `optimizer_module`: torch.optim.optimizer."""
    follow_steps(optimizer_module, lambda optimizer, _args, _kwargs: session.note_step(optimizer))


def watch_backward(session: Session, autograd: Any) -> None:
    """Notes the first call of backward(). `autograd`: the module torch.autograd."""
    original: Callable[..., Any] = autograd.backward

    @functools.wraps(original)
    def backward(*args: Any, **kwargs: Any) -> Any:
        autograd.backward = original
        session.has_computed_gradients = True
        return original(*args, **kwargs)

    autograd.backward = backward
