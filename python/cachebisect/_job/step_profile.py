"""Finds where the host spends a training step, by samples of the training thread's stack.

A profiler's hook makes functions with many calls look slow, sees all threads from Python 3.12 on,
and takes the place of a profiler that the user runs. A sampling thread does not.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import threading
from collections import Counter
from types import CodeType, FrameType
from typing import Any, Optional

from .._chain.callers import is_ours, is_users
from .._chain.functions import name_of

MIN_SHARE = 0.1
"""Share of the step that a function or line must take."""

_EXPLAINED = 0.8
"""A function is left out if those below it that are listed take this share of its time."""
_PERIOD_SECONDS = 1e-3
_SWITCH_SECONDS = 1e-4
"""A thread that waits for the interpreter lock gets it within this time: a sample is not late."""
_MOST_TEXT = 60
_MODEL = tuple(
    os.path.join("torch", *parts)
    for parts in (("nn", "modules", "module.py"), ("_tensor.py",), ("autograd", ""), ("optim", ""))
)

Line = tuple[CodeType, int]


class StepSamples:
    """What samples of the stack show. `outer`: functions that called the loop, itself included."""

    def __init__(self, outer: frozenset[CodeType]) -> None:
        self._outer = outer
        self._total = 0
        self._stacks: Counter[tuple[CodeType, ...]] = Counter()
        """The user's own functions that the loop called, innermost first."""
        self._lines: Counter[Line] = Counter()
        """Lines of the loop, while no function of the user ran below."""
        self._above_model: Counter[CodeType] = Counter()

    def add(self, frame: Optional[FrameType]) -> None:
        """The innermost frame of a sample. One within this package is no part of a step."""
        users: list[CodeType] = []
        above: list[CodeType] = []
        line: Optional[Line] = None
        in_model = False
        while frame is not None:
            code = frame.f_code
            if is_ours(code.co_filename):
                return
            if code in self._outer:
                line = (code, frame.f_lineno)
                break
            in_model = in_model or code.co_name == "forward" or _is_model(code.co_filename)
            if is_users(code.co_filename) and code not in users:
                users.append(code)
                if in_model:
                    above.append(code)
            frame = frame.f_back
        self._total += 1
        self._above_model.update(above)
        if users:
            self._stacks[tuple(users)] += 1
        elif line is not None and is_users(line[0].co_filename):
            self._lines[line] += 1

    def functions(self) -> list[dict[str, Any]]:
        """What takes most: `step_functions` of docs/extend/protocol.md."""
        found = [self._function(code, count) for code, count in self._listed().items()]
        found += [self._line(line, count) for line, count in self._lines.items()]
        found = [entry for entry in found if entry["share"] >= MIN_SHARE]
        return sorted(found, key=lambda entry: -float(entry["share"]))

    def _listed(self) -> dict[CodeType, int]:
        """Functions that take enough, without those that only call others of them."""
        counts: Counter[CodeType] = Counter()
        depths: dict[CodeType, int] = {}
        for stack, count in self._stacks.items():
            for height, code in enumerate(stack):
                counts[code] += count
                depths[code] = max(depths.get(code, 0), len(stack) - height)
        listed: dict[CodeType, int] = {}
        for code in sorted(counts, key=lambda code: -depths[code]):
            if counts[code] < MIN_SHARE * self._total:
                continue
            if self._explained(code, listed) < _EXPLAINED * counts[code]:
                listed[code] = counts[code]
        return listed

    def _explained(self, code: CodeType, listed: dict[CodeType, int]) -> int:
        """Samples of `code` in which it has called one of `listed`."""
        return sum(
            count
            for stack, count in self._stacks.items()
            if code in stack and any(below in listed for below in stack[: stack.index(code)])
        )

    def _function(self, code: CodeType, count: int) -> dict[str, Any]:
        return {
            "name": _short_name(code),
            "file": code.co_filename,
            "line": code.co_firstlineno,
            "share": count / self._total,
            "movable": self._above_model[code] <= (1 - _EXPLAINED) * count,
        }

    def _line(self, line: Line, count: int) -> dict[str, Any]:
        code, number = line
        text = linecache.getline(code.co_filename, number).strip() or f"line {number}"
        return {
            "name": text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "...",
            "file": code.co_filename,
            "line": number,
            "share": count / self._total,
            "movable": False,
        }


class StepProfile:
    """Samples the thread that makes it, from start() to stop(). Both are called there."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self._sampler = threading.Thread(
            target=self._sample, name="cachebisect-step-profile", daemon=True
        )
        self._samples = StepSamples(frozenset())
        self._switch_seconds = 0.0

    def start(self) -> None:
        """The functions that are being called are those around the loop."""
        outer: set[CodeType] = set()
        frame: Optional[FrameType] = sys._getframe(1)
        while frame is not None:
            outer.add(frame.f_code)
            frame = frame.f_back
        self._samples = StepSamples(frozenset(outer))
        self._switch_seconds = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch_seconds, _SWITCH_SECONDS))
        self._sampler.start()

    def stop(self) -> None:
        """May be called again, and without start()."""
        if self._sampler.ident is None or self._ended.is_set():
            return
        self._ended.set()
        self._sampler.join()
        sys.setswitchinterval(self._switch_seconds)

    def functions(self) -> list[dict[str, Any]]:
        """After stop()."""
        return self._samples.functions()

    def _sample(self) -> None:
        while not self._ended.wait(_PERIOD_SECONDS):
            self._samples.add(sys._current_frames().get(self._thread))


def _short_name(code: CodeType) -> str:
    """ "Model.preprocess": without its module, and without the function that defines it."""
    qualified: Optional[str] = getattr(code, "co_qualname", None)  # Python 3.11
    if qualified is None:
        module = inspect.getmodulename(code.co_filename)
        qualified = (name_of(code) or code.co_name).rpartition(f"{module}.")[2]
    return qualified.rpartition("<locals>.")[2]


def _is_model(file: str) -> bool:
    return any(part in file for part in _MODEL)
