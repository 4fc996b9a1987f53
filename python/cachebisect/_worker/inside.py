"""Finds what the dataset's own code spends its time in: functions that can become stages.

Profiles samples while the stages that are known already are left out. Not thread safe.
"""

from __future__ import annotations

import cProfile
import functools
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

from .._chain.functions import Code, function_slot, is_of_a_library, name_of
from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .._chain.taking import Taking
from .probe import probe

MIN_SHARE = 0.1
"""Share of the profiled time that a function must take."""

_MIN_SAMPLES = 8
_MAX_SECONDS = 30.0
_TIMED = 0.9
"""Share of samples whose times count: the slowest show how long the process waited for a core."""
_EXPLAINED = 0.8
"""A function is replaced by those that it calls if they take this share of its time."""
_ALL = 0.95
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_READING = ("__getitem__", "__getitems__", "__iter__", "__next__")


class Profile:
    """Calls of every function over all profiled samples, and its seconds in the timed ones."""

    def __init__(self) -> None:
        self.samples = 0
        self.seconds: defaultdict[Code, float] = defaultdict(float)
        self.called: defaultdict[Code, dict[Code, float]] = defaultdict(dict)
        """Seconds of what a function calls itself."""
        self._calls: dict[Code, list[int]] = {}
        self.top: set[Code] = set()

    def add(self, entries: list[Any], timed: bool) -> None:
        """Adds one sample."""
        self.samples += 1
        inner: set[Code] = set()
        for entry in entries:
            self.seconds[entry.code] += entry.totaltime * timed
            self._calls.setdefault(entry.code, []).append(entry.callcount)
            for callee in entry.calls or ():
                below = self.called[entry.code]
                below[callee.code] = below.get(callee.code, 0.0) + callee.totaltime * timed
                inner.add(callee.code)
        self.top |= {entry.code for entry in entries} - inner

    def is_regular(self, code: Code) -> bool:
        """True if every sample calls the function equally often."""
        calls = self._calls[code]
        return len(calls) == self.samples and len(set(calls)) == 1


def look_inside(
    dataset: Any,
    makers: Sequence[Callable[[], Any]],
    members: list[Slot],
    restart: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """As probe(), with the functions worth a stage of their own. `stages` is None if there is none.

    `members`: slots that are stages already. `restart`: as for probe(). Raises what the dataset
    raises.
    """
    try:
        names = functions_inside(makers, members)
    except ValueError as error:  # Another profiler runs.
        return {"stages": None, "note": f"the dataset's code could not be profiled: {error}"}
    found: dict[str, Any] = {"stages": [], "note": ""}
    if names:
        found = probe(dataset, makers, names, restart)
    if any(stage["name"] in names for stage in found["stages"]):
        return found
    text = (
        "no function that each sample calls equally often takes 10% of its time and can be cached"
    )
    return {"stages": None, "note": found["note"] or text}


def functions_inside(makers: Iterable[Callable[[], Any]], members: list[Slot]) -> list[str]:
    """Names of the functions worth a stage of their own.

    Raises what the dataset raises, ValueError if another profiler runs.
    """
    profile = _profiled(makers, members)
    chosen: dict[str, float] = {}
    for code in profile.top:
        chosen.update(_Choice(profile).below(code, frozenset()))
    return list(chosen)


def _known_stage(original: Any, *args: Any, **kwargs: Any) -> Any:
    """What runs below this frame is a stage already."""
    return original(*args, **kwargs)


def _profiled(makers: Iterable[Callable[[], Any]], members: list[Slot]) -> Profile:
    samples: list[tuple[float, list[Any]]] = []
    began = time.monotonic()
    # A Taking counts as the dataset's own code: what makes its items runs inside of its calls.
    calling = [slot for slot in members if not isinstance(slot.get(), Taking)]
    with Installed(calling, lambda _stage, original: functools.partial(_known_stage, original)):
        for make in makers:
            start = time.monotonic()
            if len(samples) >= _MIN_SAMPLES and start - began > _MAX_SECONDS:
                break
            profiler = cProfile.Profile()
            profiler.enable()
            try:
                make()
            finally:
                profiler.disable()
            samples.append((time.monotonic() - start, profiler.getstats()))
    slow = sorted(seconds for seconds, _ in samples)[max(1, int(_TIMED * len(samples))) :]
    profile = Profile()
    for seconds, entries in samples:
        profile.add(entries, timed=not slow or seconds < slow[0])
    return profile


class _Choice:
    """Chooses functions of a profile, none of which calls another."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._known = _known_stage.__code__
        top = sum(profile.seconds[code] for code in profile.top)
        self._total = top - profile.seconds[self._known]

    def below(self, code: Code, above: frozenset[Code]) -> dict[str, float]:
        """The functions that `code` calls, at whatever depth, with their seconds."""
        chosen: dict[str, float] = {}
        if code in above or code == self._known or not _is_opened(code):
            return chosen
        for callee, seconds in self._profile.called[code].items():
            if seconds < MIN_SHARE * self._total:
                continue
            inner = self.below(callee, above | {code})
            name = self._usable_name(callee, seconds)
            if name is None or sum(inner.values()) >= _EXPLAINED * seconds:
                chosen.update(inner)
            else:
                chosen[name] = seconds
        return chosen

    def _usable_name(self, code: Code, seconds: float) -> Optional[str]:
        if not self._profile.is_regular(code) or self._holds_a_stage(code, frozenset()):
            return None
        if _is_reading(code) and seconds >= _ALL * self._total:
            return None
        name = name_of(code)
        return name if name is not None and function_slot(name) is not None else None

    def _holds_a_stage(self, code: Code, above: frozenset[Code]) -> bool:
        if code == self._known:
            return True
        below = self._profile.called[code] if code not in above else ()
        return any(self._holds_a_stage(callee, above | {code}) for callee in below)


def _is_opened(code: Code) -> bool:
    """True for code whose calls are of interest: the user's own, and what leads to it."""
    return isinstance(code, str) or not is_of_a_library(code) or _is_reading(code)


def _is_reading(code: Code) -> bool:
    if isinstance(code, str):
        return False
    return code.co_name in _READING or code.co_filename.startswith(_PACKAGE)
