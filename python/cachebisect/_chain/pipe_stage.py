"""A member of torch's data pipes as a stage: what stands before and behind it. Not thread safe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Optional

from .pipe_graph import items_at_once, short_name
from .taking import Taking

_SPARE_ITEMS = 1000


class CannotRepeat(Exception):
    """A member gives nothing when it gets again what it once took, as one that drops repeated
    items."""


class PipeStage(Taking):
    """The member `pipe`. `copied`: a copy of it that takes its items from what it is given."""

    def __init__(self, pipe: Any, copied: Callable[[Any], Any]) -> None:
        super().__init__()
        self.pipe = pipe
        self.function: Callable[[], Any] = self
        """What is called for an item."""
        self.before: Optional[Between] = None
        self._copied = copied
        self._items: Iterator[Any] = iter(())
        self._repeated = _Repeated(_SPARE_ITEMS + 2 * items_at_once(pipe))
        self._repeating: Optional[Iterator[Any]] = None
        self._newest: Any = None
        self._calls = 0
        self._failed = 0

    def give(self) -> Any:
        """The next item, by what is called for it."""
        return self.function()

    def begin(self, items: Iterator[Any]) -> None:
        """`items`: of the member, from now on."""
        self._items = items

    def __call__(self) -> Any:
        return next(self._items)

    def take(self, count: int) -> None:
        assert self.before is not None
        for _ in range(count):
            self.before.next()

    def again(self, items: list[Any]) -> Any:
        self._repeated.serve(items)
        self._calls += 1
        try:
            if self._repeating is None:
                self._repeating = iter(self._copied(self._repeated))
            self._newest = next(self._repeating)
        except StopIteration:
            self._repeating = None
        if self._repeating is None or self._repeated.is_over:
            self._failed += 1
            if 2 * self._failed >= self._calls:
                name = short_name(self.pipe)
                raise CannotRepeat(f"{name} gives nothing for items that it had before")
        return self._newest


class _Repeated:
    """Gives the items that were served last, again and again, `most` of them at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: list[Any] = []
        self._given = 0

    def serve(self, items: list[Any]) -> None:
        """Without `items`, those before them."""
        self._items = items or self._items
        self._given = 0

    @property
    def is_over(self) -> bool:
        return self._given > self._most + 2 * len(self._items)

    def __iter__(self) -> _Repeated:
        return self

    def __next__(self) -> Any:
        self._given += 1
        if not self._items or self.is_over:
            raise StopIteration
        return self._items[(self._given - 1) % len(self._items)]


class Between:
    """Stands for a copy of a pipe where the next one reads it, and has its attributes.

    `stage`: the pipe's, `taker`: the next one's; None: it is no stage of this kind.
    """

    __slots__ = ("_items", "pipe", "stage", "taker")

    def __init__(self, pipe: Any, stage: Optional[PipeStage], taker: Optional[PipeStage]) -> None:
        self.pipe = pipe
        self.stage = stage
        self.taker = taker
        self._items: Optional[Iterator[Any]] = None

    def __iter__(self) -> Iterator[Any]:
        self._items = _Items(self)
        return self._items

    def next(self) -> Any:
        """The next item of the newest iterator. Raises StopIteration at its end."""
        return next(iter(self) if self._items is None else self._items)

    def __next__(self) -> Any:  # Some pipes are their own iterators.
        return self.next()

    def __bool__(self) -> bool:
        return bool(self.pipe)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "pipe"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Between.__slots__:
            object.__setattr__(self, name, value)
        else:
            setattr(self.pipe, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance() asks for it.
        return type(object.__getattribute__(self, "pipe"))


class _Sized(Between):
    __slots__ = ()

    def __len__(self) -> int:
        return len(self.pipe)


def between(pipe: Any, stage: Optional[PipeStage], taker: Optional[PipeStage]) -> Between:
    """A Between, with a length if the class of `pipe` has one."""
    kind = _Sized if hasattr(type(pipe), "__len__") else Between
    return kind(pipe, stage, taker)


class _Items(Iterator[Any]):
    def __init__(self, between: Between) -> None:
        stage = between.stage
        if stage is not None and stage.before is not None:
            stage.before._items = None  # The pipe opens others, now or when it gives its first.
        items = iter(between.pipe)
        self._give: Callable[[], Any] = items.__next__
        if stage is not None:
            stage.begin(items)
            self._give = stage.give
        self._taker = between.taker

    def __next__(self) -> Any:
        taker = self._taker
        return self._give() if taker is None else taker.taken(self._give)
