"""The datasets that the arms of a pipeline of Grain run. Not thread safe."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Callable, Optional

from .._chain.gate import Gate
from .._chain.grain_graph import copied, copy_of, workers_of
from .._chain.grain_names import threads_of
from .node_feed import Cycle
from .tap import Tap

_AHEAD_OF_THREADS = 2
"""Items for each thread that are made in advance while caches are filled: what is left over is of
no use."""


class GrainStages:
    """`groups`: the members of each stage. `taps`: of all stages but the last; `cycles`: of all.
    `source`: what stands for the first member; None: that itself."""

    def __init__(
        self,
        groups: Sequence[Sequence[Any]],
        taps: Sequence[Tap],
        cycles: Sequence[Cycle],
        source: Optional[Callable[[Gate], Any]] = None,
    ) -> None:
        self._source = source
        self._groups = groups
        self._taps = taps
        self._cycles = cycles

    def live(self, gate: Gate) -> Any:
        """All of them."""
        return self._copy({}, gate)

    def filling(self, gate: Gate) -> Any:
        """The same; each stage's items pass its tap."""
        from .grain_parts import tapped

        behind = [group[-1] for group in self._groups]
        instead = {id(member): tap for member, tap in zip(behind, self._taps)}

        def around(member: Any, made: Any) -> Any:
            made = self._with_gate(member, _less_ahead(made), gate)
            tap = instead.get(id(member))
            return made if tap is None else tapped(made, tap)

        return copy_of(self._members(), around)

    def replay(self, number: int, gate: Gate) -> Any:
        """Those behind stage `number`, from 0, whose items are served."""
        from .grain_parts import replayed

        last = self._groups[number][-1]
        served = replayed(last, self._cycles[number], gate)
        return self._copy({id(last): lambda _made, _before: served}, gate)

    def bypass(self, number: int, share: float, gate: Gate) -> Any:
        """All but stage `number`, which takes `share` items for each of its own."""
        from .grain_parts import bypassed

        if number == 0:
            return self.replay(0, gate)
        cycle, own = self._cycles[number], workers_of(self._groups[number])[-1]
        before = self._groups[number - 1][-1]
        instead = {id(own): lambda made, known: bypassed(made, cycle, known[id(before)], share)}
        return self._copy(instead, gate)

    def _copy(self, instead: dict[int, Any], gate: Gate) -> Any:
        """`instead`: what stands for a member, by its copy and those of all before it."""
        known: dict[int, Any] = {}

        def around(member: Any, made: Any) -> Any:
            made = self._with_gate(member, made, gate)
            if id(member) in instead:
                made = instead[id(member)](made, known)
            known[id(member)] = made
            return made

        return copy_of(self._members(), around)

    def _with_gate(self, member: Any, made: Any, gate: Gate) -> Any:
        from .grain_parts import gated

        if member is not self._groups[0][0]:
            return made
        return gated(made, gate) if self._source is None else self._source(gate)

    def _members(self) -> list[Any]:
        return [member for group in self._groups for member in group]


def _less_ahead(dataset: Any) -> Any:
    threads, ahead = threads_of(dataset)
    most = _AHEAD_OF_THREADS * threads
    if ahead <= most or not hasattr(dataset, "_read_options"):
        return dataset
    options = dataclasses.replace(dataset._read_options, prefetch_buffer_size=most)
    return copied(dataset, [], _read_options=options)
