"""The arms of a torchdata.nodes pipeline: each boundary between its members is replayed.

Not thread safe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Optional

from .._chain import tree_sizes, trees
from .._chain.description import Chain
from .._chain.gate import Gate
from .._chain.node_chain import (
    chain_of_nodes,
    look_ahead,
    notes_of_nodes,
    passes_on,
    sends_to_processes,
    threads_of,
)
from .._chain.node_copy import is_known
from .._chain.node_epoch import Gated, HeldBack, NodeEpoch
from .._chain.node_graph import NodeGraph
from .._chain.own_iteration import Context
from .group_arms import MOST_AHEAD, TRIED, GroupArms
from .kept_sources import kept_sources
from .node_feed import Bypassed, NodeArm, NodeFeed, Replayed
from .node_fill import Kept, Records, can_be_served


class NodeArms(GroupArms):
    """Runs copies of `graph`. `around`: a context for what opens them. What they share with the
    script's own nodes is given back at the end."""

    def __init__(self, graph: NodeGraph, around: Context = contextlib.nullcontext) -> None:
        super().__init__(kept_sources(graph.sources(), graph.ingredients()))
        self.notes = notes_of_nodes(graph)
        self._graph = graph
        self._around = around
        self._use_groups([[node] for node in graph.members])

    def _use_groups(self, groups: list[list[Any]]) -> None:
        """`groups`: the members of each stage."""
        super()._use_groups(groups)
        self._records = Records(groups)
        self._kept: list[Kept] = []

    def look(self) -> None:
        """Makes a few batches, and joins stages whose boundary cannot be replayed. Raises what the
        nodes raise."""
        made = list(self.fill(TRIED))
        within = range(len(self._groups) - 1)
        joined = [n for n in within if not self._can_replay(n, len(made))]
        if not joined:
            return
        names = [type(self._groups[number][-1]).__name__ for number in joined]
        groups = self._join(joined)
        self._end()
        self.notes.append(
            f"what {', '.join(names)} gives cannot be kept and given again: measured "
            "together with the member behind it"
        )
        self._use_groups(groups)
        list(self.fill(TRIED))

    def _can_replay(self, number: int, batches: int) -> bool:
        if not can_be_served(self._cycles[number].items):
            return False
        if all(is_known(node) for group in self._groups[number + 1 :] for node in group):
            return True
        arm = self._replays[number]
        arm.go_on()
        try:
            for _ in range(batches):
                arm.next()
        except Exception:  # Of a node that needs what stood before it.
            return False
        finally:
            arm.close()
            arm.pause()
        self._cycles[number].begin_again()
        return True

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """As chain_of_nodes()."""
        items = [*(kept.items[-1] for kept in self._kept), self._last]
        outputs = list(map(trees.describe, items))
        return chain_of_nodes(self._groups, outputs, on_device, made_there)

    # Caches

    def fill(self, batches: int) -> Iterator[Any]:
        """Gives so many batches, one by one, and keeps what they are made of. Raises what the nodes
        raise."""
        self._records.begin()
        self._filling.go_on()
        try:
            for _ in range(batches):
                self._last = self._filling.next()
                yield self._last
        finally:
            self._filling.pause()
        self._kept = self._records.cut()
        for number, (cycle, kept) in enumerate(zip(self._cycles, self._kept)):
            cycle.items = kept.items
            cycle.copies = cycle.copies or self._is_sent(number)
        for cycle, is_written in zip(self._cycles, self._records.written()):
            cycle.copies = cycle.copies or is_written

    def _is_sent(self, number: int) -> bool:
        """True if the items of a boundary go to other processes as they are."""
        for node in (node for group in self._groups[number + 1 :] for node in group):
            if not passes_on(node):
                return sends_to_processes(node)
        return False

    @property
    def copies_written(self) -> bool:
        """True if a node writes into its input."""
        return any(self._records.written())

    def bytes_at(self, stage: int) -> float:
        """Of all that is kept behind stage number `stage`, from 1."""
        return float(sum(map(tree_sizes.nbytes, self._kept[stage - 1].items)))

    # Blocks

    def feed(self, boundary: int, samples_per_batch: Optional[int], limit: int) -> NodeFeed:
        """Of one block; boundary 0 is live. `limit`: of the first so many batches; 0: of all."""
        if boundary == 0:
            return NodeFeed(self._live, samples_per_batch, self.ahead(0))
        kept, cycle = self._kept[boundary - 1], self._cycles[boundary - 1]
        upto = kept.by_batch[min(limit, len(kept.by_batch)) - 1] if limit > 0 else None
        cycle.items = kept.items[: upto or None]
        return self._feed(self._replays[boundary - 1], samples_per_batch, boundary)

    def bypass(
        self, stage: int, samples_per_batch: Optional[int], batches: list[Any], copies: bool
    ) -> NodeFeed:
        """Of one block without stage number `stage`, from 1: those before it run, and what they
        give is dropped. `batches`: what is kept behind the last stage. `copies`: the step writes
        into them."""
        last, cycle = self._cycles[-1], self._cycles[stage - 1]
        last.items, last.copies = batches, copies
        if cycle is not last:
            cycle.items = self._kept[stage - 1].items
        return self._feed(self._bypasses[stage - 1], samples_per_batch, 0)

    def _feed(self, arm: NodeArm, samples_per_batch: Optional[int], boundary: int) -> NodeFeed:
        running = [node for group in self._groups[boundary:] for node in group]
        threads = sum(map(threads_of, running))
        return self._feed_of(arm, threads, samples_per_batch, boundary)

    def ahead(self, boundary: int) -> int:
        """Batches that the nodes behind `boundary` hold in advance, as far as that is known."""
        each = [len(kept.items) / len(kept.by_batch) for kept in self._kept]
        each += [1.0] * (len(self._groups) - len(each))
        behind = zip(self._groups[boundary:], each[boundary:])
        ahead = sum(look_ahead(node) / max(1.0, n) for group, n in behind for node in group)
        return min(MOST_AHEAD, -int(-ahead // 1))

    # Copies

    def _open_filling(self, gate: Gate) -> NodeEpoch:
        self._records.end_epoch()
        return self._open(gate, self._records.around)

    def _open_live(self, gate: Gate) -> NodeEpoch:
        return self._open(gate, lambda _node, copied: copied)

    def _open_replay(self, number: int, gate: Gate) -> NodeEpoch:
        replaced = self._groups[number][-1]

        def around(node: Any, copied: Any) -> Any:
            return Replayed(copied, self._cycles[number], gate) if node is replaced else copied

        return self._open(gate, around)

    def _open_bypass(self, number: int, gate: Gate) -> NodeEpoch:
        if number == 0:
            return self._open_replay(number, gate)
        group, copies = self._groups[number], dict[int, Any]()
        before, replaced = id(self._groups[number - 1][-1]), group[-1]
        counts = [len(kept.items) for kept in self._kept] + [len(self._kept[-1].by_batch)]
        share = counts[number - 1] / counts[number]

        def around(node: Any, copied: Any) -> Any:
            copies[id(node)] = copied
            if node is not replaced:
                return copied
            return Bypassed(copied, self._cycles[number], copies[before], share)

        return self._open(gate, around)

    def _open(self, gate: Gate, around: Any) -> NodeEpoch:
        source, *behind = self._graph.members
        ahead = {id(node) for node in behind if look_ahead(node) > 0}

        def gated(node: Any, copied: Any) -> Any:
            if node is source:
                copied = Gated(copied, gate)
            elif id(node) in ahead:
                copied = HeldBack(copied, gate)
            return around(node, copied)

        with self._around():
            return NodeEpoch(self._graph.copied(gated), gate)
