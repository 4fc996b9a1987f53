"""Records the calls that make a sample, and makes the sample again with some of them cached.

A tape holds every outermost call of a slot while one sample is made: its arguments, its output and
where later calls and the sample itself use that output. Replaying a tape runs the calls of the live
stages in the recorded order; everything else, the dataset's own code between the calls included,
comes from memory. Not thread safe.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any, Callable

from . import _trees
from ._slots import Slot

_MAX_LINK_DEPTH = 3
_COMMON = (bool, int, float, str, bytes, type(None))


@dataclass
class Ref:
    """Stands for the output of call `call`, or for the part of it at `path`."""

    call: int
    path: tuple[Any, ...] = ()


@dataclass
class Call:
    """One call of a slot. `stage` counts from 0 in chain order."""

    stage: int
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any


@dataclass
class Tape:
    """How one sample was made, and the sample."""

    calls: list[Call] = field(default_factory=list)
    sample: Any = None
    template: Any = None
    """The sample with a Ref in place of each output that it holds."""


@dataclass
class Copies:
    """The stages whose cached values would be overwritten: they are copied when served."""

    outputs: set[int] = field(default_factory=set)
    """A later stage writes into the output."""
    arguments: set[int] = field(default_factory=set)
    """The stage writes into an argument that no other stage made."""

    def __len__(self) -> int:
        return len(self.outputs) + len(self.arguments)


@dataclass
class StageTimes:
    """Sums over the samples that were timed. Seconds; `cpu` of the thread."""

    busy: list[float]
    cpu: list[float]


class _Stand:
    """Takes the place of a slot's callable and looks like it to everything but its call."""

    __slots__ = ("_call", "_original")

    def __init__(self, original: Any, call: Callable[..., Any]) -> None:
        self._original = original
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_original"), name)


class Installed:
    """Puts a stand-in into each slot for the duration of a with block.

    `make(stage, original)` returns what is called instead. Calls inside a call go to the original:
    they are part of the outer one.
    """

    def __init__(self, slots: list[Slot], make: Callable[[int, Any], Callable[..., Any]]) -> None:
        self._slots = slots
        self._make = make
        self._originals: list[Any] = []
        self._inside = False

    def __enter__(self) -> None:
        for stage, slot in enumerate(self._slots):
            original = slot.get()
            self._originals.append(original)
            slot.put(_Stand(original, self._outermost(original, self._make(stage, original))))

    def __exit__(self, *error: object) -> None:
        for slot, original in zip(reversed(self._slots), reversed(self._originals)):
            slot.put(original)
        self._originals.clear()

    def _outermost(self, original: Any, instead: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return original(*args, **kwargs)
            self._inside = True
            try:
                return instead(*args, **kwargs)
            finally:
                self._inside = False

        return call


def record(slots: list[Slot], make_sample: Callable[[], Any], copies: Copies) -> Tape:
    """Makes a sample and its tape. Values of the stages in `copies` are stored as copies.

    Values that are overwritten and not yet in `copies` are added to it. The tape then holds what
    was overwritten: record again.
    """
    recorder = _Recorder(copies)
    with Installed(slots, recorder.stand_for):
        recorder.tape.sample = make_sample()
    recorder.find_overwritten()
    recorder.tape.template = recorder.linked(recorder.tape.sample)
    return recorder.tape


class _Recorder:
    def __init__(self, copies: Copies) -> None:
        self.tape = Tape()
        self._copies = copies
        self._known: dict[int, Ref] = {}
        self._alive: list[Any] = []  # While a sample is made, no id may be used twice.
        self._digests: list[tuple[int, int]] = []

    def stand_for(self, stage: int, original: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            held_args, held_kwargs = self.linked(args), self.linked(kwargs)
            if stage in self._copies.arguments:
                held_args, held_kwargs = _trees.clone((held_args, held_kwargs))
            before = _trees.digest((held_args, held_kwargs))
            output = loaded(original(*args, **kwargs))
            held = _trees.clone(output) if stage in self._copies.outputs else output
            self._digests.append((before, _trees.digest(held)))
            self._alive.append(output)
            _know(output, Ref(len(self.tape.calls)), self._known)
            self.tape.calls.append(Call(stage, original, held_args, held_kwargs, held))
            return output

        return call

    def find_overwritten(self) -> None:
        for call, (arguments, output) in zip(self.tape.calls, self._digests):
            if _trees.digest(call.output) != output:
                self._copies.outputs.add(call.stage)
            if _trees.digest((call.args, call.kwargs)) != arguments:
                self._copies.arguments.add(call.stage)

    def linked(self, value: Any) -> Any:
        return _linked(value, self._known)


def loaded(output: Any) -> Any:
    """`output`; an image that was opened lazily is read now, by the call that opened it."""
    if _trees.is_image(output) and getattr(output, "tile", None):
        output.load()
    return output


def replay(tape: Tape, first_live: int, copies: Copies) -> Any:
    """The sample, with the calls of stages from `first_live` on made again.

    Raises what those calls raise.
    """
    outputs: dict[int, Any] = {}
    for number, call in enumerate(tape.calls):
        if call.stage >= first_live:
            args, kwargs = _arguments(call, tape, outputs, copies)
            outputs[number] = loaded(call.function(*args, **kwargs))
    return resolved(tape.template, tape, outputs, copies) if outputs else tape.sample


def replay_timed(tape: Tape, first_live: int, copies: Copies, times: StageTimes) -> Any:
    """As replay(), and adds the seconds of each live call to `times`, by stage."""
    outputs: dict[int, Any] = {}
    for number, call in enumerate(tape.calls):
        if call.stage >= first_live:
            args, kwargs = _arguments(call, tape, outputs, copies)
            outputs[number] = timed(times, call.stage, call.function, args, kwargs)
    return resolved(tape.template, tape, outputs, copies) if outputs else tape.sample


def timed(
    times: StageTimes, stage: int, function: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """Calls `function` and adds its seconds to `times`."""
    cpu, began = thread_time(), perf_counter()
    output = loaded(function(*args, **kwargs))
    times.busy[stage] += perf_counter() - began
    times.cpu[stage] += thread_time() - cpu
    return output


def answer_from(tapes: list[Tape], stage: int, live: Slot, make_sample: Callable[[], Any]) -> Any:
    """A live sample in which the calls of `stage` are answered from `tapes`, any of them."""
    answers = [call.output for tape in tapes for call in tape.calls if call.stage == stage]
    choose = random.Random(len(answers))

    def bypass(_stage: int, original: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: choose.choice(answers) if answers else original(*args)

    with Installed([live], bypass):
        return make_sample()


def resolved(value: Any, tape: Tape, outputs: dict[int, Any], copies: Copies) -> Any:
    """`value` with every Ref replaced by the new output, or by the recorded one."""
    if isinstance(value, Ref):
        output = _output(value.call, tape, outputs, copies)
        for key in value.path:
            output = output[key]
        return output
    if type(value) is tuple:
        return tuple([resolved(item, tape, outputs, copies) for item in value])
    if type(value) is list:
        return [resolved(item, tape, outputs, copies) for item in value]
    if type(value) is dict:
        return {key: resolved(item, tape, outputs, copies) for key, item in value.items()}
    return value


def _arguments(
    call: Call, tape: Tape, outputs: dict[int, Any], copies: Copies
) -> tuple[Any, dict[str, Any]]:
    held: Any = (call.args, call.kwargs)
    if call.stage in copies.arguments:
        held = _trees.clone(held)
    args, kwargs = resolved(held, tape, outputs, copies)
    return args, kwargs


def _output(call: int, tape: Tape, outputs: dict[int, Any], copies: Copies) -> Any:
    if call in outputs:
        return outputs[call]
    recorded = tape.calls[call]
    return _trees.clone(recorded.output) if recorded.stage in copies.outputs else recorded.output


def _know(output: Any, ref: Ref, known: dict[int, Ref]) -> None:
    if isinstance(output, _COMMON):
        return
    known[id(output)] = ref
    if type(output) in (tuple, list):
        for index, item in enumerate(output):
            if not isinstance(item, _COMMON):
                known[id(item)] = Ref(ref.call, (index,))
    elif type(output) is dict:
        for key, item in output.items():
            if not isinstance(item, _COMMON):
                known[id(item)] = Ref(ref.call, (key,))


def _linked(value: Any, known: dict[int, Ref], depth: int = 0) -> Any:
    """`value` with a Ref in place of every known output in it."""
    ref = known.get(id(value))
    if ref is not None:
        return ref
    if depth < _MAX_LINK_DEPTH:
        if type(value) in (tuple, list):
            return type(value)(_linked(item, known, depth + 1) for item in value)
        if type(value) is dict:
            return {key: _linked(item, known, depth + 1) for key, item in value.items()}
    return value
