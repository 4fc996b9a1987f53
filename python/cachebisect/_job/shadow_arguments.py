"""The arguments of a shadow loader: the user's own, and what a what-if changes."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Optional

from .._chain.pinning import has_accelerator
from .._chain.settings import UNUSED
from .._worker.boundary import BoundaryCollate, BoundaryDataset, WorkerInit
from .._worker.left_out import WithoutUnused


class ShadowArguments:
    """`loader`: the user's torch.utils.data.DataLoader. `overrides`: arguments that take the place
    of the user's, named as in _chain/settings.py. Raises ValueError for an unknown start method.
    """

    def __init__(self, loader: Any, overrides: dict[str, Any]) -> None:
        self._loader = loader
        self._changed = dict(overrides)
        if "workers" in self._changed:
            self._changed["num_workers"] = self._changed.pop("workers")
        self.workers = int(self._chosen("num_workers"))
        self.prefetch = 0
        if self.workers > 0:
            self.prefetch = int(self._changed.get("prefetch_factor") or loader.prefetch_factor or 2)
        multiprocessing = sys.modules["torch"].multiprocessing
        self._own_context = self._chosen("multiprocessing_context")
        if isinstance(self._own_context, str):
            self._own_context = multiprocessing.get_context(self._own_context)
        self.context = self._own_context or multiprocessing
        """Makes memory that the workers share."""
        self.pins = bool(self._chosen("pin_memory")) and has_accelerator()
        """torch pins the batches."""
        self._takes_order = hasattr(loader, "in_order") and _constructor_takes("in_order")
        orders = self._takes_order and self.workers > 0
        self.in_order = bool(self._chosen("in_order")) if orders else True

    def for_constructor(self, boundary: BoundaryDataset, pin_log: Optional[int]) -> dict[str, Any]:
        """Keyword arguments of DataLoader, without a batch_sampler."""
        loader = self._loader
        collate = BoundaryCollate(boundary, self._collate_fn(), not self.in_order, pin_log)
        arguments: dict[str, Any] = {
            "collate_fn": collate,
            "num_workers": self.workers,
            "pin_memory": self._chosen("pin_memory"),
            "generator": sys.modules["torch"].Generator(),
        }
        if self.workers > 0:
            arguments.update(
                timeout=loader.timeout,
                worker_init_fn=WorkerInit(boundary, loader.worker_init_fn, self._changed, _ranks()),
                multiprocessing_context=self._own_context,
                prefetch_factor=self.prefetch,
                persistent_workers=True,
            )
            if self._takes_order:
                arguments["in_order"] = self.in_order
        return arguments

    def _collate_fn(self) -> Any:
        own, unused = self._loader.collate_fn, self._changed.get(UNUSED)
        return WithoutUnused(own, unused) if unused else own

    def _chosen(self, name: str) -> Any:
        return self._changed.get(name, getattr(self._loader, name))


def _ranks() -> tuple[int, int]:
    """How many there are, and the number of this one."""
    distributed = getattr(sys.modules["torch"], "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1, 0
    return int(distributed.get_world_size()), int(distributed.get_rank())


def _constructor_takes(name: str) -> bool:
    """Loaders of other libraries have attributes that the DataLoader of an older torch lacks."""
    parameters = inspect.signature(sys.modules["torch"].utils.data.DataLoader.__init__).parameters
    return name in parameters
