"""The arms of a pipeline of SPDL: each boundary between its stages is replayed. Not thread safe."""

from __future__ import annotations

import sys
from typing import Any, Optional

from .._chain.description import Chain
from .._chain.gate import Gate
from .._chain.spdl_chain import chain_of_spdl, notes_of_spdl
from .._chain.spdl_pipeline import SpdlPipeline, SpdlRun, concurrency_of, taken_for_one
from .group_arms import MOST_AHEAD
from .kept_sources import kept_sources
from .spdl_parts import Answers, Endless
from .tapped_arms import TappedArms
from .working_arms import arms_that_work


class SpdlArms(TappedArms):
    """Runs pipelines of the stages of `pipeline`. What they share with it is given back at the
    end."""

    def __init__(self, pipeline: SpdlPipeline) -> None:
        super().__init__(kept_sources([pipeline.source], [pipeline.source]), pipeline.threads)
        self.notes = notes_of_spdl(pipeline)
        self._pipeline = pipeline
        self._use_groups([[stage] for stage in pipeline.stages])

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """As chain_of_spdl()."""
        return chain_of_spdl(self._groups, self.outputs(), on_device, made_there)

    def _taken_for_one(self, member: Any) -> Optional[float]:
        return taken_for_one(member)

    def ahead(self, boundary: int) -> int:
        """Batches that the stages behind `boundary` hold in advance, as far as that is known."""
        ahead = float(self._pipeline.sink_size)
        for number in range(max(1, boundary), len(self._groups)):
            held = 1 + sum(map(concurrency_of, self._groups[number]))
            ahead += held / max(1.0, self._per_batch(number))
        return min(MOST_AHEAD, -int(-ahead // 1))

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
    return arms_that_work(
        lambda: SpdlArms(pipeline), pipeline.why_not, f"the stages of the {pipeline.name}"
    )
