"""Samples on a disk: `disk_cache` and `prepared` of a live arm, in the folder that it names.

Not thread safe.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Callable, Optional

from .._chain.settings import DISK_CACHE, KEEP_SAMPLES, PREPARED, value_of
from .._chain.slots import datasets_within
from .caches import Progress
from .loaders import MeasuredLoader

_TELL_SECONDS = 0.5
_FAULTS = (OSError, RuntimeError, TypeError, ValueError)
"""In words, of a folder, of a disk, or of samples that differ from epoch to epoch."""


class OnDisk:
    """`loader`: its dataset is read, not changed. What is written stays."""

    def __init__(self, loader: MeasuredLoader) -> None:
        self._loader = loader
        self._made: dict[str, Any] = {}

    def prepare(self, arm: dict[str, Any], progress: Progress) -> str:
        """Writes what the arm reads. Returns why it cannot run, in one line; empty if it can.

        Raises what `progress` and the dataset raise.
        """
        overrides = arm.get("overrides") or {}
        asked = [name for name in KEEP_SAMPLES if name in overrides]
        if len(asked) > 1:
            return f"samples are kept once: {' and '.join(asked)} cannot be tried together"
        if not asked or asked[0] not in (DISK_CACHE, PREPARED):
            return ""
        value = value_of(overrides, asked[0], None)
        if not isinstance(value, dict):
            return "it writes to a disk: cachebisect tune --scratch FOLDER -- ... tries it"
        root = _root_around(Path(value["folder"]), self._loader.own.dataset)
        if root is not None:
            return f"{value['folder']} lies in the data set's own folder {root}: name another one"
        key = overrides[asked[0]]
        if key in self._made:
            return ""
        make = self._cached if asked[0] == DISK_CACHE else self._prepared
        try:
            self._made[key] = make(value, _Told(progress))
        except _FAULTS as error:
            return str(error) or type(error).__name__
        return ""

    def of(self, arm: dict[str, Any]) -> Optional[Callable[[Any], Any]]:
        """What gives the dataset of a live arm, in place of that which it stands for; None if the
        arm reads nothing that prepare() has written."""
        overrides = arm.get("overrides") or {}
        texts = [overrides[name] for name in (DISK_CACHE, PREPARED) if name in overrides]
        if not texts:
            return None
        made = self._made[texts[0]]
        return lambda _dataset: made

    def close(self) -> None:
        """Closes the files of this process; no worker reads them any more."""
        for dataset in self._made.values():
            dataset.close()
        self._made.clear()

    def _cached(self, value: dict[str, Any], told: _Told) -> Any:
        from .._cache.trial import filled_in_file  # Takes torch.

        told.say("filling a cache")
        return filled_in_file(self._loader.own.dataset, value["after"], Path(value["folder"]))

    def _prepared(self, value: dict[str, Any], told: _Told) -> Any:
        from .._prepare.trial import prepared_now  # Takes torch.

        told.say("measuring what a set takes")
        return prepared_now(
            self._loader.own.dataset,
            Path(value["folder"]),
            value["after"],
            bool(value["cold"]),
            len(os.sched_getaffinity(0)),
            told.written,
        )


def _root_around(folder: Path, dataset: Any) -> Optional[Path]:
    """The folder of one of the datasets in `dataset` that `folder` lies in: a later run would take
    what is written there for samples. None if there is none."""
    for one in datasets_within(dataset):
        root = getattr(one, "root", None)
        if isinstance(root, (str, os.PathLike)) and os.fspath(root):
            place = Path(os.path.realpath(root))
            if place in Path(os.path.realpath(folder)).parents:
                return place
    return None


class _Told:
    """Tells of progress now and then."""

    def __init__(self, progress: Progress) -> None:
        self.say = progress
        self._last = 0.0

    def written(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= _TELL_SECONDS:
            self._last = now
            self.say(f"{done:,} of {total:,} samples are written")
