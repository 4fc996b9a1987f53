"""The settings of dask in the workers, and their lines of code."""

from __future__ import annotations

DASK_THREADS = "dask_threads"
"""The setting of dask's scheduler in each worker."""
SET_DASK_THREADS = (
    "DataLoader(..., worker_init_fn=f), where f(worker) calls dask.config.set("
    'scheduler="threads", num_workers={})  # if that is 1: scheduler="single-threaded"'
)
ONE_DASK_THREAD = SET_DASK_THREADS.partition('"threads"')[0] + '"single-threaded")'
"""The line for one thread."""

DASK_PROCESSES = "dask_processes"
"""The setting of processes in which dask computes for all workers."""
SET_DASK_PROCESSES = (
    "cluster = dask.distributed.LocalCluster(n_workers={}), once; "
    "DataLoader(..., worker_init_fn=f), where f(worker) calls "
    "dask.distributed.Client(cluster.scheduler_address)"
)
