"""What dask computes with in a worker: `dask_threads` and `dask_processes` of a live arm.

A dataset that reads dask arrays (xarray, zarr) computes each sample in dask's pool of threads: one
for each core, in each worker. dask is used only if the program uses it. Not thread safe.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any, Optional


def used_threads() -> Optional[int]:
    """Of the largest pool in which dask has computed in this process; 0: in none. None: dask is not
    imported."""
    if "dask" not in sys.modules:
        return None
    return max((_width(pool) for pool in _pools(sys.modules.get("dask.threaded"))), default=0)


def use_threads(threads: int) -> None:
    """From now on dask computes with so many threads in this process, where the program does not
    choose a scheduler in the call itself. 1: in the thread that asks."""
    with contextlib.suppress(ImportError):
        config = importlib.import_module("dask").config
        if threads == 1:
            config.set(scheduler="single-threaded")
        else:
            config.set(scheduler="threads", num_workers=threads)


def use_cluster(address: str) -> None:
    """From now on dask computes in the processes of this scheduler, where the program does not
    choose another in the call itself. Raises OSError if nothing answers there."""
    distributed = importlib.import_module("dask.distributed")
    distributed.Client(address)  # Kept by dask.
    importlib.import_module("dask").config.set(scheduler="distributed")


def _pools(threaded: Any) -> Iterator[Any]:
    """Those of dask.threaded: one for the main thread, and others by thread and size."""
    yield getattr(threaded, "default_pool", None)
    for of_thread in list((getattr(threaded, "pools", None) or {}).values()):
        yield from list(of_thread.values())


def _width(pool: Any) -> int:
    """The most threads of `pool`; 0 if none of them runs: a forked process has a copy without."""
    if not any(thread.is_alive() for thread in getattr(pool, "_threads", ())):
        return 0
    return int(getattr(pool, "_max_workers", 0))
