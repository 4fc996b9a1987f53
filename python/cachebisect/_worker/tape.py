"""The calls that made a sample, and making the sample again with some of them cached.

A tape holds every outermost call of a slot while one sample is made: its arguments, its output and
where later calls and the sample itself use that output. Replaying a tape runs the calls of the live
stages in the recorded order; everything else, the dataset's own code between the calls included,
comes from memory. Not thread safe.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter, thread_time
from typing import Any, Callable

from .._chain import trees
from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .._chain.taking import Give, pass_over


class Field(str):
    """The name of an attribute, in the path of a Ref."""


@dataclass
class Ref:
    """Stands for the output of call `call`, or for the part of it at `path`.

    `path`: keys, indices and Fields.
    """

    call: int
    path: tuple[Any, ...] = ()


@dataclass
class Call:
    """One call of a slot. `stage` counts from 0 in chain order."""

    stage: int
    function: Callable[..., Any]
    owner: tuple[Any, ...]
    """The object of a method, which is never copied; empty for functions."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any


Run = Callable[[int, Call, Any, Any], Any]
"""Makes a call of a tape: its number, the call, and what it is called with."""


@dataclass
class Tape:
    """How one sample was made, and the sample."""

    calls: list[Call] = field(default_factory=list)
    sample: Any = None
    template: Any = None
    """The sample with a Ref in place of each output that it holds."""
    nested: set[tuple[int, int]] = field(default_factory=set)
    """Stages, and those that were called inside of them: these calls are not on the tape."""


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
    """Sums over the samples that were timed. Seconds; `cpu` of the thread.

    `reading`: what reading the clocks of stages took. The clock of a thread is a system call, at
    which Linux likes to let another thread run: that is no time of a stage, nor of what calls it.
    `away`, `away_cpu`: what the present call has waited for the items that it takes.
    """

    busy: list[float]
    cpu: list[float]
    reading: float = 0.0
    away: float = 0.0
    away_cpu: float = 0.0


def loaded(output: Any) -> Any:
    """`output`; an image that was opened lazily is read now, by the call that opened it."""
    if trees.is_image(output) and getattr(output, "tile", None):
        output.load()
    return output


def replay(tape: Tape, first_live: int, copies: Copies) -> Any:
    """The sample, with the calls of stages from `first_live` on made again.

    Raises what those calls raise.
    """
    outputs: dict[int, Any] = {}
    for number, call in enumerate(tape.calls):
        if call.stage >= first_live:
            args, kwargs = arguments(call, tape, outputs, copies)
            outputs[number] = loaded(call.function(*args, **kwargs))
    return resolved(tape.template, tape, outputs, copies) if outputs else tape.sample


def replay_with(tape: Tape, first_live: int, copies: Copies, run: Run) -> Any:
    """As replay(); `run` makes each live call."""
    outputs: dict[int, Any] = {}
    for number, call in enumerate(tape.calls):
        if call.stage >= first_live:
            args, kwargs = arguments(call, tape, outputs, copies)
            outputs[number] = loaded(run(number, call, args, kwargs))
    return resolved(tape.template, tape, outputs, copies) if outputs else tape.sample


def timed_run(times: StageTimes) -> Run:
    """For replay_with(): adds the seconds of each live call to `times`, by stage."""
    return lambda _number, call, args, kwargs: timed(times, call.stage, call.function, args, kwargs)


def timed(
    times: StageTimes, stage: int, function: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """Calls `function` and adds its seconds to `times`."""
    entered = perf_counter()
    before, before_cpu = times.away, times.away_cpu
    cpu, began = thread_time(), perf_counter()
    try:
        output = loaded(function(*args, **kwargs))
        ended = perf_counter()
        times.cpu[stage] += thread_time() - cpu - (times.away_cpu - before_cpu)
        times.busy[stage] += ended - began - (times.away - before)
    finally:  # A call that this one is made for is away for all of it, and says so itself.
        times.away, times.away_cpu = before, before_cpu
    times.reading += (began - entered) + (perf_counter() - ended)
    return output


def timed_outside(times: StageTimes, give: Give) -> Any:
    """Calls `give`, which makes an item for the present call of a Taking."""
    entered = perf_counter()
    cpu, began = thread_time(), perf_counter()
    try:
        return give()
    finally:
        ended = perf_counter()
        times.away_cpu += thread_time() - cpu
        left = perf_counter()
        times.away += left - entered
        times.reading += (began - entered) + (left - ended)


def answer_from(
    tapes: list[Tape], stage: int, live: Slot, copies: Copies, make_sample: Callable[[], Any]
) -> Any:
    """A live sample in which the calls of `stage` are answered from `tapes`, any of them."""
    answers = [call for tape in tapes for call in tape.calls if call.stage == stage]
    choose = random.Random(len(answers))

    def answer(original: Any, /, *args: Any, **kwargs: Any) -> Any:
        chosen = choose.choice(answers)
        pass_over(original, chosen.args)
        return trees.clone(chosen.output) if stage in copies.outputs else chosen.output

    with Installed([live] if answers else [], lambda _, original: partial(answer, original)):
        return make_sample()


def resolved(value: Any, tape: Tape, outputs: dict[int, Any], copies: Copies) -> Any:
    """`value` with every Ref replaced by the new output, or by the recorded one."""
    if isinstance(value, Ref):
        output = _output(value.call, tape, outputs, copies)
        for key in value.path:
            output = getattr(output, key) if type(key) is Field else output[key]
        return output
    if type(value) is tuple:
        return tuple([resolved(item, tape, outputs, copies) for item in value])
    if type(value) is list:
        return [resolved(item, tape, outputs, copies) for item in value]
    if type(value) is dict:
        return {key: resolved(item, tape, outputs, copies) for key, item in value.items()}
    return value


def arguments(
    call: Call, tape: Tape, outputs: dict[int, Any], copies: Copies
) -> tuple[Any, dict[str, Any]]:
    """What to call `call.function` with. `outputs`: of the calls made again so far."""
    held: Any = (call.args, call.kwargs)
    if call.stage in copies.arguments:
        held = trees.clone(held)
    args, kwargs = resolved(held, tape, outputs, copies)
    return (*resolved(call.owner, tape, outputs, copies), *args), kwargs


def _output(call: int, tape: Tape, outputs: dict[int, Any], copies: Copies) -> Any:
    if call in outputs:
        return outputs[call]
    recorded = tape.calls[call]
    return trees.clone(recorded.output) if recorded.stage in copies.outputs else recorded.output
