"""A dataset whose first stages were run when its shards were written."""

from __future__ import annotations

import operator
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

from torch.utils.data import Dataset

from .._cache.entry import Entry, NotCacheable, call_now
from .._cache.examined import Examined
from .._cache.sizes import in_words
from .._chain.forwarding import Forwarding
from .._chain.slots import datasets_within
from .contents import Contents
from .opened import Opened
from .reader import Damaged, ShardReader


class PreparedDataset(Forwarding, Dataset):  # type: ignore[misc]
    """What cachebisect.prepared() returns: `dataset`, whose stages up to `after` are read.

    Has the attributes of the dataset. A sample that is damaged or missing is made by the dataset.
    Thread safe where the later stages are; takes no lock.
    """

    keeps_samples = True
    """For code that must not import this class."""

    def __init__(self, dataset: Any, folder: Path, contents: Contents, opened: Opened) -> None:
        super().__init__(dataset)
        self.after = opened.choice.after
        """The last stage that is not run any more."""
        self.hits = 0
        """Samples from the shards, in this process."""
        self.misses = 0
        """Samples that the dataset made, in this process."""
        self._folder = folder
        self._samples = contents.about.samples
        self._bytes = contents.bytes
        self._choice = opened.choice
        self._later = tuple(opened.choice.later)
        self._warned = False
        self._broken = False
        now = replace(contents, recipes=opened.recipes)
        self._reader = ShardReader(folder, now, datasets_within(dataset))
        self._examined: Optional[Examined] = None
        self.become_ready()

    def __getitem__(self, index: Any) -> Any:
        entry = self._stored(index)
        if entry is None:
            self.misses += 1
            return self.dataset[index]
        self.hits += 1
        assert self._examined is not None
        return entry.sample(self._examined.slots, call_now)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_examined": None, "hits": 0, "misses": 0}

    def __repr__(self) -> str:
        name = type(self.dataset).__name__
        return f"PreparedDataset({name}, after {self.after}, {in_words(self._bytes)} in all)"

    def close(self) -> None:
        """Closes the files of this process, in which no other thread may read now."""
        self._reader.close()

    def _stored(self, index: Any) -> Optional[Entry]:
        """None for what is not there: the dataset makes it, or raises its own error."""
        try:
            number = operator.index(index)
        except TypeError:
            return None
        if not 0 <= number < self._samples or not self._finds_stages():
            return None
        try:
            entry = self._reader.entry(number)
        except Damaged as error:
            self._warn(str(error))
            return None
        if entry.later != self._later:
            self._warn(f"sample {number} was written for other stages behind {self.after}")
            return None
        return entry

    def _finds_stages(self) -> bool:
        if self._examined is None and not self._broken:
            try:
                self._examined = Examined(self.dataset, self._choice.names, self._choice.copies)
            except NotCacheable as error:
                self._broken = True
                self._warn(str(error))
        return self._examined is not None

    def _warn(self, why: str) -> None:
        """Once in a process."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"cachebisect.prepared: {why}; such samples of {self._folder} are made by the "
                "dataset. cachebisect.prepare() mends them",
                stacklevel=4,
            )
