"""Makes a sample and records the calls that made it. Not thread safe."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable

from .._chain import trees
from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .._chain.taking import Give, Taking
from .tape import Call, Copies, Field, Ref, Tape, loaded

_MAX_LINK_DEPTH = 3
_MAX_KNOWN_DEPTH = 2
_COMMON = (bool, int, float, str, bytes, type(None))
_MOST_TAKEN = 1024
"""Items of a Taking that a tape keeps: of a shuffle buffer that is filled, the last."""

OUTSIDE = -1
"""In place of a stage: what makes an item for a Taking."""


Run = Callable[[int, Any, Any, Any], Any]
"""Calls a member: its stage, or OUTSIDE, the function, and what it is called with."""


def call_directly(_stage: int, function: Any, args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


def record(
    slots: list[Slot],
    make_sample: Callable[[], Any],
    copies: Copies,
    run: Run = call_directly,
    watch: bool = True,
) -> Tape:
    """Makes a sample and its tape. Values of the stages in `copies` are stored as copies.

    Values that are overwritten and not yet in `copies` are added to it, unless `watch` is False:
    seeing it takes checksums. The tape then holds what was overwritten: record again.
    """
    recorder = _Recorder(slots, copies, run, watch)
    with Installed(slots, recorder.stand_for, recorder.outside) as installed:
        recorder.tape.sample = make_sample()
    recorder.tape.nested = installed.nested
    recorder.find_overwritten()
    recorder.tape.template = recorder.linked(recorder.tape.sample)
    return recorder.tape


def settled(
    slots: list[Slot],
    make_sample: Callable[[], Any],
    copies: Copies,
    run: Run = call_directly,
) -> Tape:
    """As record(), until the tape holds nothing that was overwritten."""
    while True:
        known = len(copies)
        tape = record(slots, make_sample, copies, run)
        if len(copies) == known:
            return tape


class _Recorder:
    def __init__(self, slots: list[Slot], copies: Copies, run: Run, watch: bool) -> None:
        self.tape = Tape()
        self._digest = trees.digest if watch else lambda _value: 0
        self._slots = slots
        self._run = run
        self._copies = copies
        self._known: dict[int, Ref] = {}
        self._alive: list[Any] = []  # While a sample is made, no id may be used twice.
        self._digests: list[tuple[list[tuple[Any, int]], int]] = []
        """Of each call: what it was called with, with the digests of before it; of its output."""

    def outside(self, give: Give) -> Any:
        return self._run(OUTSIDE, give, (), {})

    def stand_for(self, stage: int, original: Any) -> Callable[..., Any]:
        if isinstance(original, Taking):
            return lambda: self._take(stage, original)

        def call(*args: Any, **kwargs: Any) -> Any:
            opaque = self._opaque(stage, args)
            own, held = (
                self.linked(args[:opaque]),
                (self.linked(args[opaque:]), self.linked(kwargs)),
            )
            if stage in self._copies.arguments:
                held = trees.clone(held)
            before = [(held, self._digest(held))]
            output = loaded(self._run(stage, original, args, kwargs))
            self._keep(Call(stage, original, own, *held, output), before)
            return output

        return call

    def _take(self, stage: int, original: Taking) -> Any:
        """A call that is made again with the items that it takes."""
        taken: deque[tuple[Any, int]] = deque(maxlen=_MOST_TAKEN)

        def note(item: Any) -> None:
            self._alive.append(item)
            held = self.linked(item)
            if stage in self._copies.arguments:
                held = trees.clone(held)
            taken.append((held, self._digest(held)))

        original.note = note
        try:
            output = loaded(self._run(stage, original, (), {}))
        finally:
            original.note = None
        items = [item for item, _ in taken]
        self._keep(Call(stage, original.again, (), (items,), {}, output), list(taken))
        return output

    def _keep(self, call: Call, before: list[tuple[Any, int]]) -> None:
        output = call.output
        if call.stage in self._copies.outputs:
            call.output = trees.clone(output)
        self._digests.append((before, self._digest(call.output)))
        self._alive.append(output)
        _know(output, Ref(len(self.tape.calls)), self._known)
        self.tape.calls.append(call)

    def _opaque(self, stage: int, args: tuple[Any, ...]) -> int:
        """Leading arguments that are neither copied nor watched: the object of a method."""
        if not self._slots[stage].bound or not args or trees.is_data(args[0]):
            return 0
        return 1

    def find_overwritten(self) -> None:
        for call, (arguments, output) in zip(self.tape.calls, self._digests):
            if self._digest(call.output) != output:
                self._copies.outputs.add(call.stage)
            if any(self._digest(held) != before for held, before in arguments):
                self._copies.arguments.add(call.stage)

    def linked(self, value: Any) -> Any:
        return _linked(value, self._known)


def _know(output: Any, ref: Ref, known: dict[int, Ref]) -> None:
    """Notes where `output` and its parts come from."""
    if isinstance(output, _COMMON):
        return
    known[id(output)] = ref
    if len(ref.path) == _MAX_KNOWN_DEPTH:
        return
    if type(output) in (tuple, list):
        for index, item in enumerate(output):
            _know(item, Ref(ref.call, (*ref.path, index)), known)
    elif type(output) is dict:
        for key, item in output.items():
            _know(item, Ref(ref.call, (*ref.path, key)), known)
    elif trees.is_record(output):
        for name, item in vars(output).items():
            _know(item, Ref(ref.call, (*ref.path, Field(name))), known)


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
