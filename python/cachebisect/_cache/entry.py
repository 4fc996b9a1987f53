"""What a cache holds of a sample: the outputs of its first stages, and the calls that follow.

Not thread safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

from .._chain.slots import Slot
from .._worker.tape import Copies, Ref, Tape, loaded, resolved

Run = Callable[[int, int, Any, Any, Any], Any]
"""Makes a call: its number in the sample, its stage, the function, what it is called with."""

_NO_TAPE = Tape()
_NO_COPIES = Copies()
"""What comes out of a cache is nobody else's."""


class NotCacheable(ValueError):
    """The samples cannot be cached so. The text says why, and what can be done."""


@dataclass
class LiveCall:
    """A call of a stage behind the cache. What it is called with may hold a Ref."""

    number: int
    stage: int
    owner: tuple[Any, ...]
    """The object of a method; empty for functions."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass
class Entry:
    """A sample, cached after its first stages."""

    outputs: dict[int, Any]
    """Of the calls of cached stages that are used later, by the number of the call."""
    calls: list[LiveCall]
    template: Any
    """The sample, in which a Ref stands for each output."""
    later: tuple[str, ...]
    """Names of the stages behind the cache: the entry is of no use to others."""

    def sample(self, slots: list[Slot], run: Run) -> Any:
        """The sample, whose later stages are what their slots hold now; once only, since they may
        write into what is cached. Raises what those stages raise."""
        outputs = dict(self.outputs)
        for call in self.calls:
            owner, args, kwargs = _resolved((call.owner, call.args, call.kwargs), outputs)
            function = slots[call.stage].get()
            made = run(call.number, call.stage, function, (*owner, *args), kwargs)
            outputs[call.number] = loaded(made)
        return _resolved(self.template, outputs)


def call_now(_number: int, _stage: int, function: Any, args: Any, kwargs: Any) -> Any:
    """A Run that does nothing else."""
    return function(*args, **kwargs)


def cut_after(tape: Tape, stages: int, names: list[str]) -> Entry:
    """The sample of `tape`, cached after the first `stages` of those called `names`.

    Raises NotCacheable if one of them is called with what a later stage gave.
    """
    live, used = [], set(_calls_in(tape.template))
    later: set[int] = set()
    for number, call in enumerate(tape.calls):
        needs = set(_calls_in((call.owner, call.args, call.kwargs)))
        if call.stage >= stages:
            later.add(number)
            used |= needs
            live.append(LiveCall(number, call.stage, call.owner, call.args, call.kwargs))
        elif needs & later:
            raise NotCacheable("a stage before the cache is called with what a later stage gave")
    outputs = {number: tape.calls[number].output for number in sorted(used - later)}
    return Entry(outputs, live, tape.template, tuple(names[stages:]))


def _resolved(value: Any, outputs: dict[int, Any]) -> Any:
    return resolved(value, _NO_TAPE, outputs, _NO_COPIES)


def _calls_in(value: Any) -> Iterator[int]:
    """The calls for whose outputs a Ref stands in `value`."""
    if isinstance(value, Ref):
        yield value.call
    elif type(value) in (tuple, list):
        for item in value:
            yield from _calls_in(item)
    elif type(value) is dict:
        for item in value.values():
            yield from _calls_in(item)
