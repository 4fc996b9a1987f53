"""The DataLoaders that a script iterates, and which of them is to be measured."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Optional

from .._chain.callers import place_of_caller
from .._chain.named_source import NamedSource
from .._job.pass_through import PASS_MIN_STEPS
from .step_pattern import StepPattern

if TYPE_CHECKING:
    from .script_iterator import ScriptIterator

_MAX_LISTED = 20


class SeenLoaders:
    """Numbers loaders from 1, in the order in which they are first iterated. Not thread safe.

    `wanted`: the number that is measured; None: the one whose batches lie between optimizer steps.
    """

    def __init__(self, wanted: Optional[int] = None) -> None:
        self.wanted = wanted
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._latest: list[weakref.ref[Any]] = []
        self._words: list[str] = []
        self._batches: list[int] = []
        self._places: list[str] = []
        self._patterns: dict[tuple[int, Hashable, int], tuple[StepPattern, weakref.ref[Any]]] = {}
        self._opened: dict[tuple[int, Hashable], int] = {}
        self._ended: weakref.WeakKeyDictionary[Any, dict[Hashable, int]]
        self._ended = weakref.WeakKeyDictionary()

    def number_of(self, loader: Any) -> int:
        """The number of `loader`, which is iterated now. Some scripts make a loader for each epoch:
        one that is made as another was, and iterated in the same line, goes on for it once that is
        gone."""
        if loader not in self._numbers:
            self._numbers[loader] = self._number_of_new(loader)
        return self._numbers[loader]

    def _number_of_new(self, loader: Any) -> int:
        words, place = words_for(loader), place_of_caller()
        for i, latest in enumerate(self._latest):
            if latest() is None and (self._words[i], self._places[i]) == (words, place):
                self._latest[i] = weakref.ref(loader)
                return i + 1
        self._latest.append(weakref.ref(loader))
        self._words.append(words)
        self._places.append(place)
        self._batches.append(0)
        return len(self._words)

    def pattern_of(self, iterator: ScriptIterator, optimizer_steps: int) -> StepPattern:
        """The pattern of the earlier iterators of this loader and level, another one of which is
        opened after so many steps; a pattern of its own while one of them gives batches, as in
        zip(loader, loader).
        Levels: one iterator may lie in another one of the same loader."""
        number, level = iterator.number, iterator.level
        self._opened[number, level] = self.opened(number, level) + 1
        place, pattern = 0, StepPattern(optimizer_steps)
        while (number, level, place) in self._patterns:
            known, holder = self._patterns[number, level, place]
            other = holder()
            if other is None or other.has_ended:
                pattern = known
                break
            place += 1
        self._patterns[number, level, place] = pattern, weakref.ref(iterator)
        return pattern

    def opened(self, number: int, level: Hashable) -> int:
        """Iterators of this loader and level so far."""
        return self._opened.get((number, level), 0)

    def note_end(self, loader: Any, level: Hashable, batches: int) -> None:
        """An iterator of `loader` and this level has ended after so many batches."""
        self._ended.setdefault(loader, {})[level] = batches

    def ended_after(self, loader: Any, level: Hashable) -> Optional[int]:
        """Batches of the last iterator of `loader` and this level that has ended; None: none has.
        Another loader in its place may be longer."""
        return self._ended.get(loader, {}).get(level)

    def batches_of(self, number: int) -> int:
        """Batches of this loader that have passed so far."""
        return self._batches[number - 1]

    def note_batches(self, number: int, batches: int) -> None:
        """`batches` batches of this loader have passed in all."""
        self._batches[number - 1] = batches

    def name_of(self, number: int) -> str:
        """ "loader 2 (train.py:41)": where it was first iterated."""
        place = self._places[number - 1]
        return f"loader {number}" + (f" ({place})" if place else "")

    def missing(self) -> Optional[str]:
        """Why the wanted loader was not measured; None if none is wanted or no loader was seen."""
        if self.wanted is None or not self._words:
            return None
        if self.wanted <= len(self._words):
            reason = f"it gave less than {PASS_MIN_STEPS} batches, or the script ended early"
        else:
            reason = f"the script iterated {len(self._words)}"
        return f"--loader {self.wanted}: {reason}. Loaders seen: {self.listed()}"

    def listed(self) -> str:
        """The first loaders in words; empty if there is none."""
        listed = [
            f"{number}: {words}, {batches} batches"
            for number, (words, batches) in enumerate(zip(self._words, self._batches), start=1)
        ]
        return "; ".join(listed[:_MAX_LISTED])

    def most_batches(self) -> int:
        """Batches of the loader that gave most."""
        return max(self._batches, default=0)


def words_for(loader: Any) -> str:
    """The loader as the code makes it, shortened."""
    if isinstance(loader, NamedSource):
        return loader.name
    name, workers = type(loader).__name__, f"num_workers={loader.num_workers}"
    return f"{name}({type(loader.dataset).__name__}, batch_size={loader.batch_size}, {workers})"
