"""A prepared dataset for trying out what it gains. Not thread safe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .api import prepare_with, prepared
from .pieces import SampleFailed
from .plan import Asked
from .writing import Progress

_SHARD_BYTES = 128 << 20


def prepared_now(
    dataset: Any, folder: Path, after: str, cold: bool, workers: int, progress: Progress
) -> Any:
    """prepared(dataset, folder), behind the stage `after`; writes what is missing there first, in
    `workers` processes. `cold`: the system forgets what it holds of the files in memory.

    Raises what prepare() and prepared() raise, and `progress`.
    """
    asked = Asked(after, frozen=False, version="")
    try:
        prepare_with(dataset, folder, asked, _SHARD_BYTES, workers, False, progress)
    except SampleFailed as failed:
        text = f"prepare: sample {failed.index} failed"
        raise failed.error from RuntimeError(text)
    if cold:
        for path in folder.glob("shard-*.tar"):
            _forget(path)
    return prepared(dataset, folder)


def _forget(path: Path) -> None:
    """The pages of a file that is on the disk are dropped from memory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
