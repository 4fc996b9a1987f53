"""Where samples come from in a worker: an indexed dataset or an iterable one. Not thread safe."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Optional

from .facts import is_iterable
from .pipe_graph import graph_of
from .restart import Restarting


class NothingDelivered(Exception):
    """The iterable dataset ended at once after a restart."""


class IndexedSource:
    """A map-style dataset. `single`: the loader collates nothing, an index is a whole batch."""

    def __init__(self, dataset: Any, single: bool) -> None:
        self._dataset = dataset
        self._single = single
        self._whole = not single and reads_whole_batches(dataset)

    def makers(self, indices: Any) -> list[Callable[[], Any]]:
        """One function per sample; one for all of them if the dataset reads whole batches."""
        dataset = self._dataset
        if self._whole:
            return [lambda: dataset.__getitems__(indices)]
        picked = [indices] if self._single else indices
        return [lambda index=index: dataset[index] for index in picked]  # type: ignore[misc]

    def joined(self, made: list[Any]) -> Any:
        """All samples of a batch; `made`: what the makers returned."""
        return made[0] if self._whole else made

    def batch(self, indices: Any) -> Any:
        """All samples of a batch, as the loader's own fetcher makes them."""
        dataset = self._dataset
        if self._single:
            return [dataset[indices]]
        items = getattr(dataset, "__getitems__", None)
        if items:
            return items(indices)
        return [dataset[index] for index in indices]

    def count(self, indices: Any) -> int:
        return 1 if self._single else len(indices)

    def restart(self) -> None:
        """Samples have no order that could begin anew."""

    def first_samples(self, _count: int) -> list[Any]:
        """None: no sample is the first."""
        return []


class IterableSource:
    """An iterable dataset, restarted at its end. `batch_size` None: it delivers whole batches."""

    def __init__(self, dataset: Any, batch_size: Optional[int]) -> None:
        self._samples = Restarting(dataset)
        self._count = batch_size or 1

    def makers(self, _indices: Any) -> list[Callable[[], Any]]:
        return [self._next] * self._count

    def joined(self, made: list[Any]) -> Any:
        return made

    def batch(self, _indices: Any) -> Any:
        return [self._next() for _ in range(self._count)]

    def count(self, _indices: Any) -> int:
        return self._count

    def restart(self) -> None:
        """The next sample is the first of a new iterator."""
        self._samples.release()

    def first_samples(self, count: int) -> list[Any]:
        """At most so many from the beginning of the stream, which then begins anew."""
        self.restart()
        made: list[Any] = []
        with contextlib.suppress(NothingDelivered):
            while len(made) < count:
                made.append(self._next())
        self.restart()
        return made

    def _next(self) -> Any:
        try:
            return self._samples.next()
        except StopIteration:
            raise NothingDelivered() from None


def innermost(dataset: Any) -> Any:
    """The dataset behind any Subset; the source of a chain of data pipes."""
    while type(dataset).__name__ == "Subset" and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    pipes = graph_of(dataset)
    return dataset if pipes is None else pipes.source


def reads_whole_batches(dataset: Any) -> bool:
    """True if the dataset has a `__getitems__` of its own, below any Subset."""
    return callable(getattr(innermost(dataset), "__getitems__", None))


def asks_for_single_samples(loader: Any) -> bool:
    """True if a DataLoader asks its dataset for the samples of a batch one after the other."""
    collates = loader.batch_sampler is not None
    dataset = loader.dataset
    return collates and not is_iterable(dataset) and not reads_whole_batches(dataset)
