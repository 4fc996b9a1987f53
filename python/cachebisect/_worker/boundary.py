"""What the shadow loader is given in place of the user's dataset, collate_fn and worker_init_fn.

All three travel to the workers in one pickle (or by fork) and share one Server there. They hold no
reference to the training process. Not thread safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

from .._chain import facts
from .._chain.pinning import Parcel
from .._chain.pipe_graph import divide
from .._chain.pipelines import with_switches
from .._chain.sources import IndexedSource, IterableSource
from .server import Server
from .tasks import SharedArea, Task
from .threaded_reads import own_dataset
from .worker_settings import apply_settings


class BoundaryDataset:
    """Makes the samples of a Task; a loader hands over one Task per batch.

    `batched`: the user's loader collates samples into batches. `batch_size` matters for iterable
    datasets alone.
    """

    def __init__(
        self,
        dataset: Any,
        iterable: bool,
        batched: bool,
        batch_size: Optional[int],
        area: SharedArea,
    ) -> None:
        self.dataset = dataset
        self.iterable = iterable
        self.batched = batched
        self.batch_size = batch_size
        self.area = area
        self._server: Optional[Server] = None

    @classmethod
    def of(cls, loader: Any, dataset: Any, area: SharedArea) -> BoundaryDataset:
        """That of `loader`; `dataset`: in place of its own, unless it is None."""
        served = loader.dataset if dataset is None else dataset
        batched = loader.batch_sampler is not None
        return cls(served, facts.is_iterable(served), batched, loader.batch_size, area)

    def server(self) -> Server:
        """This process's server, made at its first use."""
        if self._server is None:
            source: Any
            dataset = self.dataset
            if self.iterable:
                dataset = with_switches(dataset)
                source = IterableSource(dataset, self.batch_size if self.batched else None)
            else:
                source = IndexedSource(self.dataset, single=not self.batched)
            worker = worker_id()
            in_worker = worker is not None
            self._server = Server(dataset, source, self.area, worker or 0, in_worker)
        return self._server

    def __getitems__(self, task: Task) -> tuple[Task, Any]:
        return task, self.server().fetch(task)

    def __getitem__(self, task: Task) -> tuple[Task, Any]:
        return self.__getitems__(task)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_server": None}


class BoundaryCollate:
    """Collates what BoundaryDataset made, by the user's collate_fn.

    `numbered`: each batch comes with the number of its task, for loaders that change the order.
    `pin_log`: key of the PinLog of a loader that pins; each batch then comes in a Parcel.
    """

    def __init__(
        self,
        boundary: BoundaryDataset,
        collate_fn: Callable[[Any], Any],
        numbered: bool,
        pin_log: Optional[int] = None,
    ) -> None:
        self._boundary = boundary
        self._collate_fn = collate_fn
        self._numbered = numbered
        self._pin_log = pin_log

    def __call__(self, fetched: tuple[Task, Any]) -> Any:
        task, samples = fetched
        batch = self._boundary.server().collate(task, samples, self._collated)
        if self._pin_log is not None:
            return Parcel(self._pin_log, task.number, batch)
        return (task.number, batch) if self._numbered else batch

    def _collated(self, samples: Any) -> Any:
        return self._collate_fn(samples if self._boundary.batched else samples[0])


class WorkerInit:
    """Shows the user's code its own dataset in get_worker_info(), then runs its worker_init_fn.

    `changed`: settings of apply_settings(), set after it, as the line that a remedy proposes would.
    `ranks`: how many there are, and the number of this one: data pipes are divided among them.
    """

    def __init__(
        self,
        boundary: BoundaryDataset,
        worker_init_fn: Optional[Callable[[int], None]],
        changed: Optional[Mapping[str, Any]] = None,
        ranks: tuple[int, int] = (1, 0),
    ) -> None:
        self._boundary = boundary
        self._worker_init_fn = worker_init_fn
        self._changed = dict(changed or {})
        self._ranks = ranks

    def __call__(self, worker: int) -> None:
        import torch.utils.data

        info = torch.utils.data.get_worker_info()
        # WorkerInfo refuses plain assignments.
        object.__setattr__(info, "dataset", own_dataset(self._boundary.dataset))
        divide(info.dataset, worker, getattr(info, "num_workers", 1), self._ranks)
        if self._worker_init_fn is not None:
            self._worker_init_fn(worker)
        apply_settings(self._changed)


def worker_id() -> Optional[int]:
    """Number of this worker from 0; None in the training process."""
    import torch.utils.data

    info = torch.utils.data.get_worker_info()
    return None if info is None else int(info.id)
