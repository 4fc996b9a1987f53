"""The arms of a pipeline of SPDL: each boundary between its stages is replayed. Not thread safe."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any, Optional

from .._chain import tree_sizes
from .._chain.description import Chain
from .._chain.node_epoch import Gate
from .._chain.spdl_chain import chain_of_spdl, notes_of_spdl
from .._chain.spdl_pipeline import SpdlPipeline, SpdlRun, concurrency_of, taken_for_one
from .kept_sources import kept_sources
from .node_feed import Cycle, NodeArm, NodeFeed, OpenArms
from .node_fill import can_be_served
from .spdl_parts import Answers, Endless, Tap

_TRIED = 2
_MOST_THREADS = 64
_MOST_AHEAD = 64


class SpdlArms:
    """Runs pipelines of the stages of `pipeline`. What they share with it is given back at the
    end."""

    def __init__(self, pipeline: SpdlPipeline) -> None:
        self.notes = notes_of_spdl(pipeline)
        self._pipeline = pipeline
        self._shared = kept_sources([pipeline.source], [pipeline.source])
        self._use_groups([[stage] for stage in pipeline.stages])

    def _use_groups(self, groups: list[list[Any]]) -> None:
        """`groups`: what each stage of the chain consists of."""
        self._groups = groups
        stages = range(len(groups))
        self._taps = [Tap() for _ in groups[1:]]
        self._cycles = [Cycle() for _ in groups]
        self._kept: list[list[Any]] = [[] for _ in groups[1:]]
        self._batches = 0
        """Of all fills."""
        self._filling = NodeArm(self._open_filling)
        self._live = NodeArm(self._open_live)
        self._replays = [NodeArm(functools.partial(self._open_replay, n)) for n in stages]
        self._bypasses = [NodeArm(functools.partial(self._open_bypass, n)) for n in stages]
        self._open_arms = OpenArms(_MOST_THREADS)
        self._last: Any = None

    def look(self) -> None:
        """Makes a few batches, and joins stages whose boundary cannot be replayed. Raises what the
        pipeline raises."""
        list(self.fill(_TRIED))
        joined = [n for n, kept in enumerate(self._kept) if not kept or not can_be_served(kept)]
        if not joined:
            return
        groups = self._groups
        for number in reversed(joined):
            groups[number : number + 2] = [groups[number] + groups[number + 1]]
        self._end()
        self.notes.append(
            "what some stages give cannot be kept and given again: they are measured together "
            "with the stage behind them"
        )
        self._use_groups(groups)
        list(self.fill(_TRIED))

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """As chain_of_spdl()."""
        outputs = [*(kept[-1] for kept in self._kept), self._last]
        return chain_of_spdl(self._groups, outputs, on_device, made_there)

    # Caches

    def fill(self, batches: int) -> Iterator[Any]:
        """Gives so many batches, one by one, and keeps what they are made of. Raises what the
        pipeline raises."""
        self._filling.go_on()
        try:
            for _ in range(batches):
                self._last = self._filling.next()
                yield self._last
        finally:
            self._filling.pause()
        self._batches += batches
        for number, (tap, cycle) in enumerate(zip(self._taps, self._cycles)):
            kept = tap.take(max(1, round(batches * self._per_batch(number))))
            self._kept[number] = kept or self._kept[number]
            cycle.items = self._kept[number]
            cycle.copies = cycle.copies or tap.is_written

    def _per_batch(self, number: int) -> float:
        """Items behind stage `number`, from 0, that a batch takes."""
        each = 1.0
        for behind in range(number + 1, len(self._groups)):
            each *= self._taken(behind)
        return each

    def _taken(self, number: int) -> float:
        """Items that stage `number` takes for each that it gives."""
        known = [taken_for_one(stage) for stage in self._groups[number]]
        if all(one is not None for one in known):
            return functools.reduce(lambda a, b: a * (b or 1.0), known, 1.0)
        given = self._taps[number].count if number < len(self._taps) else self._batches
        return self._taps[number - 1].count / max(1, given)

    @property
    def copies_written(self) -> bool:
        """True if a stage writes into its input."""
        return any(tap.is_written for tap in self._taps)

    def bytes_at(self, stage: int) -> float:
        """Of all that is kept behind stage number `stage`, from 1."""
        return float(sum(map(tree_sizes.nbytes, self._kept[stage - 1])))

    # Blocks

    def feed(self, boundary: int, samples_per_batch: Optional[int], limit: int) -> NodeFeed:
        """Of one block; boundary 0 is live. `limit`: of the first so many batches; 0: of all."""
        if boundary == 0:
            return self._feed_of(self._live, samples_per_batch, 0)
        kept = self._kept[boundary - 1]
        upto = max(1, round(limit * self._per_batch(boundary - 1))) if limit > 0 else len(kept)
        self._cycles[boundary - 1].items = kept[:upto]
        return self._feed_of(self._replays[boundary - 1], samples_per_batch, boundary)

    def bypass(
        self, stage: int, samples_per_batch: Optional[int], batches: list[Any], copies: bool
    ) -> NodeFeed:
        """As NodeArms has it."""
        last, cycle = self._cycles[-1], self._cycles[stage - 1]
        last.items, last.copies = batches, copies
        if cycle is not last:
            cycle.items = self._kept[stage - 1]
        return self._feed_of(self._bypasses[stage - 1], samples_per_batch, 0)

    def _feed_of(self, arm: NodeArm, samples_per_batch: Optional[int], boundary: int) -> NodeFeed:
        self._open_arms.use(arm, self._pipeline.threads)
        return NodeFeed(arm, samples_per_batch, self.ahead(boundary))

    def ahead(self, boundary: int) -> int:
        """Batches that the stages behind `boundary` hold in advance, as far as that is known."""
        ahead = float(self._pipeline.sink_size)
        for number in range(max(1, boundary), len(self._groups)):
            held = 1 + sum(map(concurrency_of, self._groups[number]))
            ahead += held / max(1.0, self._per_batch(number))
        return min(_MOST_AHEAD, -int(-ahead // 1))

    def close(self) -> None:
        """Ends all threads, and gives back what was shared."""
        self._end()
        for kept in self._shared:
            kept.restore()

    def _end(self) -> None:
        for arm in (self._filling, self._live, *self._replays, *self._bypasses):
            arm.close()

    # Pipelines

    def _open_live(self, gate: Gate) -> SpdlRun:
        return self._open(gate, self._pipeline.source, _all_of(self._groups)[1:])

    def _open_filling(self, gate: Gate) -> SpdlRun:
        pipes = self._groups[0][1:]
        for tap, group in zip(self._taps, self._groups[1:]):
            pipes = [*pipes, _pipe(tap, "note"), *group]
        return self._open(gate, self._pipeline.source, pipes)

    def _open_replay(self, number: int, gate: Gate) -> SpdlRun:
        behind = _all_of(self._groups[number + 1 :])
        return self._open(gate, Endless(self._cycles[number]), behind)

    def _open_bypass(self, number: int, gate: Gate) -> SpdlRun:
        if number == 0:
            return self._open_replay(0, gate)
        answers = Answers(self._cycles[number], self._taken(number))
        before, behind = self._groups[:number], self._groups[number + 1 :]
        pipes = [*_all_of(before)[1:], _pipe(answers.function, "answer"), *_all_of(behind)]
        return self._open(gate, self._pipeline.source, pipes)

    def _open(self, gate: Gate, items: Any, pipes: list[Any]) -> SpdlRun:
        return self._pipeline.opened_behind(items, pipes, gate)


def _all_of(groups: list[list[Any]]) -> list[Any]:
    return [stage for group in groups for stage in group]


def _pipe(function: Any, name: str) -> Any:
    return sys.modules["spdl.pipeline.defs"].Pipe(function, name=name)


def arms_of_spdl(pipeline: SpdlPipeline) -> tuple[Optional[SpdlArms], list[str]]:
    """Those of `pipeline`, if its stages can be measured; and notes. Raises nothing."""
    why, arms = pipeline.why_not, None
    if not why:
        try:
            arms = SpdlArms(pipeline)
            arms.look()
            return arms, arms.notes
        except Exception as error:
            why = f"pipelines of them fail: {type(error).__name__}: {error}"
            if arms is not None:
                with contextlib.suppress(Exception):
                    arms.close()
    return None, [f"the stages of the {pipeline.name} are not measured one by one: {why}"]
