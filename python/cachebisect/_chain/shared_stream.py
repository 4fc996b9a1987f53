"""The iterator of a script, and what is measured in its place.

That is another iterator like it, where one can be opened. Some cannot be opened a second time:
those that are their own iterator, read from a queue, or from another iterator. Then training and
what is measured share one, and training would lose what measuring takes.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple, Optional

from . import tree_sizes, trees
from .facts import free_bytes
from .free import free_memory
from .node_graph import NodeGraph, graph_of
from .sharing import cannot_begin_twice, ingredients, sources
from .spdl_built import built_of
from .spdl_pipeline import SpdlPipeline

_SHARE = 0.5
"""Of the free memory, for batches that training gets later."""


class NoRoom(Exception):
    """Batches that training must get later do not fit into memory."""


class _Kept(NamedTuple):
    """What training gets later: a batch, or an error, of which StopIteration ends the epoch."""

    batch: Any = None
    nbytes: int = 0
    error: Optional[BaseException] = None

    @property
    def ends_epoch(self) -> bool:
        return isinstance(self.error, StopIteration)


class SharedStream(Iterator[Any]):
    """Training iterates this; measured() gives what is measured. Unknown attributes are those of
    the script's iterator. Not thread safe.

    `own`: the script's iterator. `another`: opens one like it; None: there is none but `own`.
    `made_from`: what `own` may take its batches from. `begin_again`: makes `own` give batches after
    its end, and returns what to iterate; None: nothing can. `keeps`: what measuring takes from
    `own` is copied, and training gets the copies later, in their order; else it is lost, which
    is right only if training ends with the measurement.
    """

    def __init__(
        self,
        own: Iterator[Any],
        another: Optional[Callable[[], Iterator[Any]]],
        made_from: Iterable[Any] = (),
        begin_again: Optional[Callable[[], Iterator[Any]]] = None,
        keeps: bool = True,
    ) -> None:
        self._own = own
        self._another = another
        self.made_from = list(made_from)
        self._begin_again = begin_again
        self._keeps = keeps
        self._is_shared: Optional[bool] = None
        self._kept: deque[_Kept] = deque()
        self._epochs_ahead = 0
        self._has_ended = False
        """The present epoch of training has."""
        self._is_empty = False
        """It has been begun, and given nothing."""
        self._bytes = 0
        self._room: Optional[float] = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __len__(self) -> int:
        return len(self._own)  # type: ignore[arg-type]

    @property
    def is_shared(self) -> bool:
        """True if no other iterator can be opened next to the script's. It is seen once, when the
        script's has given batches: by then it has what it reads from."""
        if self._is_shared is None:
            self._is_shared = self._cannot_open_another()
        return self._is_shared

    def _cannot_open_another(self) -> bool:
        if self.nodes is not None:
            if self._keeps:
                self.nodes.rest()
            return bool(self.nodes.why_not)
        if self.built is not None:
            return False
        return self._another is None or cannot_begin_twice(self._own, self.made_from)

    def share(self) -> None:
        """No other iterator can be opened after all: what is measured is taken from `own`."""
        self._is_shared = True

    @functools.cached_property
    def nodes(self) -> Optional[NodeGraph]:
        """The pipeline that the script's iterator runs, if it is one of torchdata.nodes."""
        return graph_of(self._own)

    @functools.cached_property
    def built(self) -> Optional[SpdlPipeline]:
        """What the pipeline of SPDL was built from that the script's iterator is of, if it is one
        whose stages can be measured. Best seen once it has given batches."""
        return built_of(self._own, self.made_from)

    @property
    def keeps(self) -> bool:
        """True if what measuring takes is copied for training."""
        return self._keeps and self.is_shared

    def ingredients(self) -> list[Any]:
        """What another iterator would be made from, too."""
        nodes = self.nodes
        if self.built is not None:
            return [self.built.source]
        own = ingredients(self._own, self.made_from)
        return list(own) if nodes is None else nodes.ingredients()

    def sources(self) -> list[Any]:
        """The same without the attributes of objects."""
        nodes = self.nodes
        if self.built is not None:
            return [self.built.source]
        return sources(self._own, self.made_from) if nodes is None else nodes.sources()

    def measured(self) -> Iterator[Any]:
        """What is measured. Raises NoRoom, and what the script's iterator raises."""
        if self.is_shared:
            return _Live(self)
        if self.nodes is not None:
            return iter(self.nodes)
        if self.built is not None:
            return iter(self.built)
        return _Live(self) if self._another is None else self._another()

    def __next__(self) -> Any:
        """For training."""
        self._has_ended = False
        try:
            return self._next()
        except StopIteration:
            self._has_ended = True
            raise

    def _next(self) -> Any:
        if not self._kept:
            return next(self._own)
        kept = self._kept.popleft()
        self._bytes -= kept.nbytes
        if kept.error is not None:
            raise kept.error
        return kept.batch

    def begin_epoch(self, begin: Callable[[], Any]) -> None:
        """The script asks for an iterator. Calls `begin`, unless measuring has begun that epoch
        already: training gets its batches from the first one on. Raises what it raises."""
        if not self._has_ended and any(kept.ends_epoch for kept in self._kept):
            while not self._kept.popleft().ends_epoch:
                pass
        self._has_ended = False
        if self.is_ahead:
            self._epochs_ahead -= 1
        elif not self._kept:
            begin()

    @property
    def is_ahead(self) -> bool:
        """True if measuring has begun an epoch that training has not asked for yet."""
        return self._epochs_ahead > 0

    def take(self) -> Any:
        """One batch of the script's iterator, to be measured."""
        try:
            batch = next(self._own)
        except Exception as error:
            self._keep_error(error)
            if isinstance(error, StopIteration) and self._begin_again is not None:
                self._begin_next(self._begin_again)
            raise
        self._is_empty = False
        if self._keeps:
            self._keep(batch)
        return batch

    def _begin_next(self, begin_again: Callable[[], Iterator[Any]]) -> None:
        if self._keeps and not self._is_empty:
            self._epochs_ahead += 1
        self._is_empty = True
        self._own = begin_again()

    def _keep_error(self, error: Exception) -> None:
        is_second_end = bool(self._kept) and self._kept[-1].ends_epoch
        if self._keeps and not (is_second_end and isinstance(error, StopIteration)):
            self._kept.append(_Kept(error=error))

    def _keep(self, batch: Any) -> None:
        size = tree_sizes.nbytes(batch)
        self._kept.append(_Kept(trees.clone(batch), size))
        self._bytes += size
        if self._room is None:
            self._room = _SHARE * _free_where(batch)
        if self._bytes > self._room:
            raise NoRoom(
                f"the {len(self._kept)} batches that measuring has taken from the script's only "
                f"iterator hold {self._bytes / 1e9:.1f} GB, and training needs them later: measure "
                "without --then continue, or with a smaller --budget"
            )


def _free_where(batch: Any) -> float:
    """Free bytes of the memory that holds `batch`."""
    devices = [leaf.device for leaf in trees.leaves(batch) if trees.is_tensor(leaf)]
    on_cuda = [device for device in devices if device.type == "cuda"]
    free = free_bytes(on_cuda[0]) if on_cuda else free_memory()
    return float("inf") if free is None else free


class _Live(Iterator[Any]):
    """Has no attributes of the script's iterator: nothing may close it."""

    def __init__(self, stream: SharedStream) -> None:
        self._stream = stream

    def __next__(self) -> Any:
        return self._stream.take()
