"""What a live arm changes in the worker processes themselves. Stays until a worker ends."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Callable

from .._chain.dask_settings import DASK_PROCESSES, DASK_THREADS
from .._chain.settings import DECODE_SCALE, MALLOC
from .allocator import keep_memory
from .dask_threads import use_cluster, use_threads
from .decode_scale import decode_at


def apply_settings(changed: Mapping[str, Any]) -> None:
    """Changes what `changed` names, by the names of settings, in this process. Others are ignored.
    Not thread safe."""
    for name, change in _CHANGES.items():
        if changed.get(name) is not None:
            change(changed[name])


def set_threads(threads: int) -> None:
    """Sets how many threads torch and OpenCV compute with in this process."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)
    cv2 = sys.modules.get("cv2")
    if cv2 is not None:
        cv2.setNumThreads(threads)


def _share_by(strategy: str) -> None:
    """It counts where tensors are sent."""
    import torch.multiprocessing

    torch.multiprocessing.set_sharing_strategy(strategy)


_CHANGES: Mapping[str, Callable[[Any], None]] = {
    "worker_threads": set_threads,
    DECODE_SCALE: decode_at,
    MALLOC: lambda _keep: keep_memory(),
    DASK_THREADS: use_threads,
    DASK_PROCESSES: use_cluster,
    "sharing_strategy": _share_by,
}
