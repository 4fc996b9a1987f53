"""Batches of a copy of a torchdata.nodes pipeline that goes on from block to block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Optional, Protocol

from .._chain import trees
from .._chain.gate import Gate
from .._chain.node_epoch import Between
from .._chain.restart import Restarting
from .._worker.worker_end import end_iterator
from .iterable_feed import IterableFeed

_ROUNDING = 1e-6


class Cycle:
    """Items that are served again and again. `copies`: a node behind writes into them, or sends
    them to a process, which moves them to shared memory: each gets a copy."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.copies = False
        self._next = 0

    def next(self) -> Any:
        """The next item. Called by one thread, whatever its node runs in."""
        number, self._next = self._next, self._next + 1
        return self.at(number)

    def at(self, number: int) -> Any:
        """The item of this number. Threads may call it at the same time."""
        items = self.items
        item = items[number % len(items)]
        return trees.clone(item) if self.copies else item

    def begin_again(self) -> None:
        """The next item is the first."""
        self._next = 0


def taken_for(number: int, share: float) -> range:
    """The items that a stage takes for its item of this number, if each takes `share`; from 0."""
    return range(int(number * share + _ROUNDING), int((number + 1) * share + _ROUNDING))


class Replayed(Between):
    """Stands for `node`, a copy that never runs, and gives the items of `cycle` in its place."""

    def __init__(self, node: Any, cycle: Cycle, gate: Gate) -> None:
        super().__init__(node)
        self._cycle = cycle
        self._gate = gate
        self._given = 0

    def __next__(self) -> Any:
        if not self._gate.lets_in():
            raise StopIteration
        self._given += 1
        return self._cycle.next()

    def reset(self, initial_state: Optional[dict[str, Any]] = None) -> None:
        """The nodes behind begin anew; the cycle goes on."""

    def state_dict(self) -> Any:
        return {"given": self._given}


class Bypassed(Between):
    """Stands for `node`, a copy that never runs. For each item of `cycle` that it gives, it takes
    what the node would take of `before`, a copy of the one before it: `share` items."""

    def __init__(self, node: Any, cycle: Cycle, before: Any, share: float) -> None:
        super().__init__(node)
        self._cycle = cycle
        self._before = before
        self._share = share
        self._given = 0

    def __next__(self) -> Any:
        for _ in taken_for(self._given, self._share):
            next(self._before)
        self._given += 1
        return self._cycle.next()

    def reset(self, initial_state: Optional[dict[str, Any]] = None) -> None:
        self._before.reset(initial_state)

    def state_dict(self) -> Any:
        return self._before.state_dict()


class Epoch(Protocol):
    """One run of a pipeline."""

    def __iter__(self) -> Iterator[Any]: ...

    def __next__(self) -> Any: ...

    def rest(self) -> None:
        """Waits until no thread of it runs a function of the user's."""


class NodeArm:
    """One arm: a pipeline whose nodes wait between its blocks, with what they have made in advance.
    `opens(gate)`: gives an iterator whose items pass the gate."""

    def __init__(self, opens: Callable[[Gate], Epoch]) -> None:
        self.usual_wait: Optional[float] = None
        """What a batch of its last block was waited for. Seconds."""
        self._opens = opens
        self._gate = Gate(is_open=False)
        self._is_open = False
        self._epoch: Optional[Epoch] = None
        self._batches = Restarting(self)

    def __iter__(self) -> Iterator[Any]:
        self._gate = Gate(self._is_open)
        self._epoch = self._opens(self._gate)
        return self._epoch

    def next(self) -> Any:
        """The next batch. Raises what the nodes raise, ValueError if they give nothing."""
        try:
            return self._batches.next()
        except StopIteration:
            raise ValueError("the nodes of the loader gave no batch") from None

    def make_room(self, batches: int) -> None:
        """As MeasuredLoader has it."""
        end_iterator(self._batches.make_room(batches))

    def go_on(self) -> None:
        """A block begins."""
        self._is_open = True
        self._gate.open()

    def pause(self) -> None:
        """A block is over. Returns once its threads wait: other arms call the same functions."""
        self._is_open = False
        self._gate.close()
        if self._epoch is not None:
            self._epoch.rest()

    def close(self) -> None:
        """Ends its threads and processes. It begins anew if it is asked again."""
        self._gate.end()
        end_iterator(self._batches.release())
        self._epoch = self.usual_wait = None


class OpenArms:
    """Arms that wait for their next block. Their threads look now and then whether they may go on,
    which takes from the step: those that were used last stay open, up to `limit` threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._threads: dict[NodeArm, int] = {}

    def use(self, arm: NodeArm, threads: int) -> None:
        """A block of `arm` begins."""
        self._threads.pop(arm, None)
        self._threads[arm] = threads
        while sum(self._threads.values()) > self._limit and len(self._threads) > 1:
            oldest = next(iter(self._threads))
            del self._threads[oldest]
            oldest.close()


class NodeFeed(IterableFeed):
    """Batches of `arm`. `ahead`: batches that its nodes may hold in advance."""

    def __init__(self, arm: NodeArm, samples_per_batch: Optional[int], ahead: int) -> None:
        super().__init__(arm.next, samples_per_batch, arm.usual_wait or 0.0, arm.make_room)
        self._arm = arm
        self._taken = 0
        if arm.usual_wait is None:
            self.settling_steps = ahead

    def begin(self, block: int) -> None:
        self._arm.go_on()
        super().begin(block)

    def take(self) -> tuple[Any, int]:
        taken = super().take()
        self._taken += 1
        return taken

    def end(self) -> None:
        self._arm.pause()
        if self._taken > 0:
            self._arm.usual_wait = self.waiting.starved / self._taken
