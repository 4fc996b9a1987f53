"""Datasets behind caches that hold some samples already, for trying out caches."""

from __future__ import annotations

from typing import Any


class FilledDatasets:
    """Of the dataset of `loader`. Each is made at its first use, and serves all variants of the
    loader. Not thread safe."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._made: dict[tuple[Any, Any], Any] = {}

    def of(self, after: Any, folder: Any) -> Any:
        """The dataset behind a cache after a stage, or of what it reads, in a folder; as it is if
        neither is given. Raises what filled() of _cache/trial.py raises."""
        if after is None and folder is None:
            return self._loader.dataset
        if after is not None and folder is not None:
            raise ValueError("two caches cannot be tried together")
        if (after, folder) not in self._made:
            from .._cache.trial import filled  # Takes torch.

            self._made[after, folder] = filled(self._loader.dataset, after or "read", folder)
        return self._made[after, folder]

    def close(self) -> None:
        """No worker reads them any more."""
        for dataset in self._made.values():
            dataset.close()
        self._made.clear()
