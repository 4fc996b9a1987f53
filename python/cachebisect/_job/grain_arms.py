"""The arms of a pipeline of Grain: boundaries between its stages are replayed. Not thread safe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Sequence
from typing import Any, Callable, Optional

from .._chain import trees
from .._chain.description import Chain
from .._chain.gate import Gate
from .._chain.grain_chain import chain_of_grain
from .._chain.grain_graph import stages_of, workers_of
from .._chain.grain_names import taken_for_one, threads_of
from .._chain.own_iteration import Context
from .._worker.draws import states
from .grain_run import GrainRun
from .grain_stages import GrainStages
from .group_arms import MOST_AHEAD
from .state import Kept
from .tap import Tap
from .tapped_arms import TappedArms

_THREADS_OF_ARM = 1
"""Threads of Grain that wait for a gate take nothing from the step, however many there are."""


class GrainArms(TappedArms):
    """Runs copies of `members`, which are in order. `shared`: as GroupArms has it. `around`: a
    context for what opens their iterators, of which `opened` is shown the last one."""

    def __init__(
        self,
        members: Sequence[Any],
        shared: list[Kept],
        around: Context = contextlib.nullcontext,
        opened: Callable[[Any], None] = lambda _iterator: None,
    ) -> None:
        super().__init__(shared, _THREADS_OF_ARM)
        self._around = around
        self._opened = opened
        self.drew = False
        """Random numbers that all share were drawn while samples were made."""
        self._use_groups(stages_of(members))

    def _use_groups(self, groups: list[list[Any]]) -> None:
        super()._use_groups(groups)
        self._stages = GrainStages(groups, self._taps, self._cycles)

    def _tap(self) -> Tap:
        return Tap(_kept_apart)

    def _drop(self, batch: Any) -> None:
        for leaf in filter(_is_shared, trees.leaves(batch)):
            leaf.unlink_on_del()

    def sizes(self) -> list[int]:
        """How many transformations each stage has."""
        return [len(workers_of(group)) for group in self._groups]

    def fill(self, batches: int) -> Generator[Any, None, None]:
        """As TappedArms has it."""
        filling, before = super().fill(batches), states()
        with contextlib.closing(filling):
            for batch in filling:
                self.drew = self.drew or before != states()
                yield batch
                before = states()

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """As chain_of_grain()."""
        return chain_of_grain(self._groups, self.outputs(), on_device, made_there, self.drew)

    def _taken_for_one(self, member: Any) -> Optional[float]:
        return taken_for_one(member)

    def ahead(self, boundary: int) -> int:
        """Batches that the stages behind `boundary` hold in advance, as far as that is known."""
        ahead = 0.0
        for number in range(boundary, len(self._groups)):
            held = sum(threads_of(member)[1] for member in self._groups[number])
            ahead += held / max(1.0, self._per_batch(number))
        return min(MOST_AHEAD, -int(-ahead // 1))

    # Datasets

    def _open_live(self, gate: Gate) -> GrainRun:
        return self._run(self._stages.live(gate), gate)

    def _open_filling(self, gate: Gate) -> GrainRun:
        return self._run(self._stages.filling(gate), gate)

    def _open_replay(self, number: int, gate: Gate) -> GrainRun:
        return self._run(self._stages.replay(number, gate), gate)

    def _open_bypass(self, number: int, gate: Gate) -> GrainRun:
        return self._run(self._stages.bypass(number, self._taken(number), gate), gate)

    def _run(self, dataset: Any, gate: Gate) -> GrainRun:
        with self._around():
            return GrainRun(dataset, gate, self._opened)


def _kept_apart(item: Any) -> Any:
    """A copy whose arrays are plain ones: in a process, Grain makes batches in shared memory."""
    return trees.map_leaves(trees.clone(item), _plain)


def _plain(leaf: Any) -> Any:
    return leaf.view(sys.modules["numpy"].ndarray) if _is_shared(leaf) else leaf


def _is_shared(leaf: Any) -> bool:
    """True for an array of Grain in shared memory, which somebody must free."""
    return type(leaf).__name__ == "SharedMemoryArray" and trees.is_array(leaf)
