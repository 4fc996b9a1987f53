"""Where samples come from in a worker: an indexed dataset or an iterable one. Not thread safe."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._restart import Restarting


class NothingDelivered(Exception):
    """The iterable dataset ended at once after a restart."""


class IndexedSource:
    """A map-style dataset. `single`: the loader collates nothing, an index is a whole batch."""

    def __init__(self, dataset: Any, single: bool) -> None:
        self._dataset = dataset
        self._single = single
        self._whole = (
            getattr(dataset, "__getitems__", None) if reads_whole_batches(dataset) else None
        )

    def makers(self, indices: Any) -> Optional[list[Callable[[], Any]]]:
        """One function per sample; None if the dataset reads whole batches."""
        if self._whole is not None and not self._single:
            return None
        dataset = self._dataset
        picked = [indices] if self._single else indices
        return [lambda index=index: dataset[index] for index in picked]  # type: ignore[misc]

    def batch(self, indices: Any) -> Any:
        """All samples of a batch, as the loader's own fetcher makes them."""
        dataset = self._dataset
        if self._single:
            return [dataset[indices]]
        items = getattr(dataset, "__getitems__", None)
        if items:
            return items(indices)
        return [dataset[index] for index in indices]

    def one(self, indices: Any, number: int) -> Any:
        """Sample `number` of the batch."""
        return self._dataset[indices if self._single else indices[number]]

    def count(self, indices: Any) -> int:
        return 1 if self._single else len(indices)


class IterableSource:
    """An iterable dataset, restarted at its end. `batch_size` None: it delivers whole batches."""

    def __init__(self, dataset: Any, batch_size: Optional[int]) -> None:
        self._samples = Restarting(dataset)
        self._count = batch_size or 1

    def makers(self, _indices: Any) -> Optional[list[Callable[[], Any]]]:
        return [self._next] * self._count

    def batch(self, _indices: Any) -> Any:
        return [self._next() for _ in range(self._count)]

    def one(self, _indices: Any, _number: int) -> Any:
        return self._next()

    def count(self, _indices: Any) -> int:
        return self._count

    def _next(self) -> Any:
        try:
            return self._samples.next()
        except StopIteration:
            raise NothingDelivered() from None


def reads_whole_batches(dataset: Any) -> bool:
    """True if the dataset has a `__getitems__` of its own, below any Subset."""
    while type(dataset).__name__ == "Subset" and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return callable(getattr(dataset, "__getitems__", None))
