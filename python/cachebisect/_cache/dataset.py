"""A dataset whose first stages run once per sample."""

from __future__ import annotations

import operator
import os
import random
import threading
import warnings
from typing import Any, Optional

import torch
from torch.utils.data import Dataset

from .._chain.forwarding import Forwarding
from .._chain.slots import datasets_within
from .._worker.kept_random import KeptRandom
from .choice import Choice, decode_entry, encode_entry
from .encoding import decoded
from .entry import Entry, NotCacheable, call_now, cut_after
from .examined import Examined
from .reference import reference
from .shared_folder import SharedFolder
from .sizes import in_words
from .tiers import Tiers

_CHECKED = 64
"""One of so many new samples is made a second time and compared with what was cached."""

_one_at_a_time = threading.RLock()
"""While a sample is made, the stages of its dataset are watched where all threads see them."""


def _after_fork() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.RLock()  # Another thread of the parent may have held it.


os.register_at_fork(after_in_child=_after_fork)


class CachedDataset(Forwarding, Dataset):  # type: ignore[misc]
    """What cachebisect.cached() returns: `dataset`, whose stages up to `after` run once per sample.

    Has the attributes of the dataset. Whatever fails in the cache, samples are made by the dataset.
    One thread of a process makes samples at a time.
    """

    keeps_samples = True
    """For code that must not import this class."""

    def __init__(
        self,
        dataset: Any,
        choice: Choice,
        tiers: Tiers,
        frozen: bool,
        folder: Optional[SharedFolder],
        reuse: int = 0,
    ) -> None:
        super().__init__(dataset)
        self.after = choice.after
        """The last stage that is cached."""
        self.hits = 0
        """Samples from the cache, in this process."""
        self.misses = 0
        """Samples that the dataset made, in this process."""
        self._names = choice.names
        self._stages = choice.stages
        self._bytes_per_sample = choice.bytes_per_sample
        self._copies = choice.copies
        self._tiers = tiers
        self._frozen = frozen
        self._reuse = reuse
        self._renewal: Optional[tuple[int, random.Random]] = None
        self._folder = folder
        self._shared = datasets_within(dataset)
        self._examined: Optional[Examined] = None
        self.become_ready()

    def __getitem__(self, index: Any) -> Any:
        with _one_at_a_time:
            if not self._is_usable():
                return self.dataset[index]
            key = _key(index)
            again = self._is_renewed()
            entry = None if again else self._stored(key)
            if entry is None:
                return self._made(index, key, again)
            self.hits += 1
            return entry.sample(self._slots(), call_now)

    def __getstate__(self) -> dict[str, Any]:
        own = {"_examined": None, "_folder": None, "_renewal": None, "hits": 0, "misses": 0}
        return {**self.__dict__, **own}

    def __repr__(self) -> str:
        size = in_words(self._bytes_per_sample)
        total = in_words(self._bytes_per_sample * len(self))
        name = type(self.dataset).__name__
        return f"CachedDataset({name}, after {self.after}, {size} per sample, {total} in all)"

    def close(self) -> None:
        """Ends the cache: what is in shared memory is removed, samples are made by the dataset."""
        self._tiers.close()
        self._tiers = Tiers([])
        if self._folder is not None:
            self._folder.remove()

    def _is_usable(self) -> bool:
        if not self._tiers.is_in_use():
            return False
        if self._examined is None:
            try:
                why = self._tiers.refusal()
                self._examined = Examined(self.dataset, self._names, self._copies)
            except NotCacheable as error:
                why = str(error)
            if why is not None:
                self._end(why)
        return self._tiers.is_in_use()

    def _is_renewed(self) -> bool:
        """By chance, which needs no count that all processes would have to write down."""
        if self._reuse == 0:
            return False
        if self._renewal is None or self._renewal[0] != os.getpid():
            self._renewal = os.getpid(), random.Random(torch.initial_seed())
        return self._renewal[1].random() < 1 / (1 + self._reuse)

    def _slots(self) -> list[Any]:
        return self._examined.slots if self._examined is not None else []

    def _stored(self, key: str) -> Optional[Entry]:
        data = self._tiers.get(key)
        if data is None:
            return None
        return decode_entry(data, self._shared, self._names[self._stages :])

    def _made(self, index: Any, key: str, again: bool = False) -> Any:
        assert self._examined is not None
        self.misses += 1
        try:
            tape = self._examined.tape(index)
        except Exception:  # The dataset's own error comes again.
            return self.dataset[index]
        try:
            self._keep(index, key, cut_after(tape, self._stages, self._names), again)
        except NotCacheable as error:
            self._end(str(error))
        return tape.sample

    def _keep(self, index: Any, key: str, entry: Entry, again: bool = False) -> None:
        data = encode_entry(entry, self.after, self._shared)
        if self.misses % _CHECKED == 0 and not self._frozen:
            assert self._examined is not None
            with KeptRandom():
                now = reference(self._examined, index, frozen=False)
                now.check(decoded(data, self._shared))
        self._tiers.put(key, data, again)

    def _end(self, why: str) -> None:
        self._tiers.refuse(why)
        warnings.warn(f"cachebisect.cached: not used from here on: {why}", stacklevel=3)


def _key(index: Any) -> str:
    try:
        return str(operator.index(index))
    except TypeError:
        return repr(index)
