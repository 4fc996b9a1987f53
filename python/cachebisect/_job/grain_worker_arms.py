"""The arms of a pipeline of Grain that has processes: its boundaries there, and those behind them.

Not thread safe.
"""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any, Optional

from .._chain.description import Chain
from .._chain.gate import Gate
from .._chain.grain_chain import chain_of_grain
from .._chain.grain_graph import GrainGraph, shards_of, stages_of
from .._chain.own_iteration import Context
from .grain_arms import GrainArms
from .grain_control import BYPASS, FILL, LIVE, REPLAY
from .grain_run import GrainRun
from .grain_stages import GrainStages
from .grain_workers import GrainWorkers
from .group_arms import MOST_AHEAD
from .node_feed import NodeArm, NodeFeed
from .state import Kept

_DIFFER = "the processes find different stages"


class GrainWorkerArms(GrainArms):
    """Runs another set of the processes of `graph`, and copies of its members behind them. The
    arguments are as those of GrainArms."""

    def __init__(self, graph: GrainGraph, shared: list[Kept], around: Context) -> None:
        self._workers = GrainWorkers(graph, around)
        self._graph = graph
        super().__init__(graph.outside, shared, around)
        self._inside: list[list[Any]] = []
        """The members of each stage of the processes."""
        self._inner: dict[int, NodeArm] = {}
        self._facts: list[Any] = []
        self._limit = 0

    def look(self) -> None:
        """As TappedArms has it."""
        self._learn()
        super().look()

    def _learn(self) -> None:
        """What the processes have kept. Raises what they raise."""
        self._facts = self._workers.facts()
        sizes = self._facts[0].sizes
        if any(facts.sizes != sizes for facts in self._facts):
            raise ValueError(_DIFFER)
        stages, self._inside = stages_of(self._graph.inside), []
        for size in sizes[:-1]:  # The last is that they send their batches.
            self._inside.append([member for stage in stages[:size] for member in stage])
            stages = stages[size:]
        self.drew = self.drew or any(facts.drew for facts in self._facts)

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """As chain_of_grain()."""
        groups = [*self._inside, *self._groups]
        outputs = [*self._facts[0].outputs[:-1], *self.outputs()]
        return chain_of_grain(groups, outputs, on_device, made_there, self.drew)

    def fill(self, batches: int) -> Generator[Any, None, None]:
        """As GrainArms has it."""
        yield from super().fill(batches)
        self._learn()

    @property
    def copies_written(self) -> bool:
        """True if a stage writes into its input."""
        return super().copies_written or any(facts.is_written for facts in self._facts)

    def bytes_at(self, stage: int) -> float:
        """As MemberArms has it."""
        if stage > len(self._inside):
            return super().bytes_at(stage - len(self._inside))
        batches = sum(facts.batches for facts in self._facts)
        whole = sum(facts.nbytes[stage - 1] for facts in self._facts)
        return float(whole * self.batches / max(1, batches))

    def can_bypass(self, stage: int) -> bool:
        """Not that batches are sent to this process."""
        return stage != len(self._inside) + 1

    def ahead(self, boundary: int) -> int:
        """As MemberArms has it."""
        inside = len(self._inside)
        if boundary > inside:
            return super().ahead(boundary - inside)
        shards = shards_of(self._graph.processes)
        held = sum(1 + 2 * int(vars(shard).get("_buffer_size", 1)) for shard in shards)
        return min(MOST_AHEAD, held + super().ahead(1))

    # Blocks

    def feed(self, boundary: int, samples_per_batch: Optional[int], limit: int) -> NodeFeed:
        """As MemberArms has it."""
        inside = len(self._inside)
        if 0 < boundary <= inside:
            self._limit = -(-limit // self._workers.count)
            return self._inner_feed(REPLAY + boundary, samples_per_batch, boundary)
        arm = self.arm_of_replay(max(0, boundary - inside), limit)
        return self._feed_of(arm, self._threads, samples_per_batch, boundary)

    def bypass(
        self, stage: int, samples_per_batch: Optional[int], batches: list[Any], copies: bool
    ) -> NodeFeed:
        """As MemberArms has it."""
        inside = len(self._inside)
        if stage > inside:
            return super().bypass(stage - inside, samples_per_batch, batches, copies)
        self._limit = 0
        return self._inner_feed(BYPASS + stage, samples_per_batch, 0)

    def _inner_feed(self, code: int, samples: Optional[int], boundary: int) -> NodeFeed:
        arm = self._inner.get(code)
        if arm is None:
            arm = self._inner[code] = NodeArm(functools.partial(self._open_inner, code))
        return self._feed_of(arm, self._threads, samples, boundary)

    def _end(self) -> None:
        super()._end()
        for arm in self._inner.values():
            arm.close()

    def close(self) -> None:
        """As GroupArms has it."""
        try:
            super().close()
        finally:
            self._workers.close()

    # Datasets

    def _stages_behind(self, code: int) -> GrainStages:
        """Those of this process, behind what the processes make for `code`."""
        return GrainStages(
            self._groups, self._taps, self._cycles, functools.partial(self._from_workers, code)
        )

    def _from_workers(self, code: int, gate: Gate) -> Any:
        from .grain_parts import made_by

        return made_by(lambda: self._workers.next(code, self._limit), gate)

    def _open_live(self, gate: Gate) -> GrainRun:
        return self._run(self._stages_behind(LIVE).live(gate), gate)

    def _open_filling(self, gate: Gate) -> GrainRun:
        return self._run(self._stages_behind(FILL).filling(gate), gate)

    def _open_inner(self, code: int, gate: Gate) -> GrainRun:
        return self._run(self._stages_behind(code).live(gate), gate)

    def _open_bypass(self, number: int, gate: Gate) -> GrainRun:
        behind = self._stages_behind(LIVE)
        return self._run(behind.bypass(number, self._taken(number), gate), gate)

    def _run(self, dataset: Any, gate: Gate) -> GrainRun:
        return _Run(dataset, gate, self._workers, self._around)


class _Run(GrainRun):
    """Between its blocks the processes make nothing."""

    def __init__(self, dataset: Any, gate: Gate, workers: GrainWorkers, around: Context) -> None:
        self._workers = workers
        with around():
            super().__init__(dataset, gate, lambda _iterator: None)

    def rest(self) -> None:
        """As GrainRun has it."""
        self._workers.pause()
        super().rest()
