"""The shadow loader: a DataLoader like the user's, made by the public constructor.

Its batch sampler yields Tasks, so that each batch carries its own arm to its worker. Workers keep
running from block to block. One thread at a time.
"""

from __future__ import annotations

import gc
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any, Callable, Optional

from .._chain.pinning import Parcel, PinLog
from .._worker.boundary import BoundaryDataset
from .._worker.held_interrupt import HeldInterrupt
from .._worker.tasks import Empty, SharedArea, Stale, Task, idle_task
from .._worker.worker_end import death_of_worker, end_workers, hint, interrupt_stuck
from .arm_queues import ArmQueue, ArmQueues, Dealer, Entry
from .shadow_arguments import ShadowArguments
from .task_sampler import TaskSampler


class LoaderGone(Exception):
    """A worker of the shadow loader died, which ended all others. The text is the loader's own."""


class ShadowLoader:
    """Workers that wait for tasks.

    `loader`: the user's torch.utils.data.DataLoader; it is only read. `overrides`: arguments that
    take the place of the user's. `dataset`: in place of the user's. Raises what the constructor of
    DataLoader raises.
    """

    def __init__(
        self, loader: Any, overrides: Optional[dict[str, Any]] = None, dataset: Any = None
    ) -> None:
        changed = ShadowArguments(loader, overrides or {})
        self.workers = changed.workers
        self.prefetch = changed.prefetch
        self.in_order = changed.in_order
        self.area = SharedArea(changed.context, self.workers)
        self._boundary = BoundaryDataset.of(loader, dataset, self.area)
        self.iterable = self._boundary.iterable
        self._pin_log = PinLog() if changed.pins else None
        key = self._pin_log.key if self._pin_log is not None else None
        self._arguments = changed.for_constructor(self._boundary, key)
        self._arguments["batch_sampler"] = TaskSampler(self)
        self._loader: Any = None
        self._iterator: Optional[Iterator[Any]] = None
        self.issued = 0
        self.received = 0
        self.task = idle_task(0)
        """That whose batch was received last."""
        self.parcel: Optional[Parcel] = None
        """What the batch that was received last came in, if the loader pins."""
        self.queues = ArmQueues()
        self._dealer = Dealer()
        self._outstanding: dict[int, Task] = {}
        self._early: deque[tuple[Task, Any, Optional[Parcel]]] = deque()
        self.empties = 0
        """Tasks that workers with nothing to deliver have answered."""

    @property
    def in_flight(self) -> int:
        """Batches that the loader keeps asked for."""
        return self.workers * self.prefetch

    def begin(
        self,
        block: int,
        make_task: Callable[[int], Task],
        queue: Optional[ArmQueue] = None,
        observed: bool = True,
    ) -> None:
        """Makes `block` the current one. What older blocks asked for is dropped, or kept in the
        queues of their arms. `make_task(number)` gives the next task, `queue` is what the block
        goes on with and leaves. On return all tasks on their way are of it. Raises LoaderGone."""
        dealer = self._dealer
        if queue is not None and self._iterator is not None:
            dealer.make_task = None
            self._empty()
            while queue.entries and self.issued % self.workers != queue.first_worker:
                self._next()
            dealer.go_on(queue, block, observed)
        dealer.make_task, self.area.block = make_task, block
        if self._iterator is None:
            self._start()
        else:
            self._empty()
        dealer.begin(queue)

    def _empty(self) -> None:
        """Receives what is on its way. Each answer makes room for a new task."""
        newest, first = self.issued, self.received
        self._early.clear()
        left: list[Entry] = []
        while any(number <= newest for number in self._outstanding):
            try:
                batch = self._next()
            except LoaderGone:
                raise
            except Exception:  # The error of a task that nothing waits for any more.
                if not self.in_order:
                    raise
                batch = Stale()
            if self.task.number > newest:
                self._early.append((self.task, batch, self.parcel))
            else:
                held = self._dealer.held(self.task.number)
                left.append(held or Entry.of(self.task, batch, self.parcel))
        self._dealer.end(left, first % max(1, self.workers))

    def begin_some(self, block: int, count: int, make_task: Callable[[int], Task]) -> None:
        """As begin(), for `count` tasks that are delivered; a worker that has nothing to deliver
        leaves its task to another."""
        asked, empties = 0, self.empties

        def make(number: int) -> Task:
            nonlocal asked
            if asked >= count + self.empties - empties:
                return idle_task(number)
            asked += 1
            return make_task(number)

        self.begin(block, make)

    def end(self) -> None:
        """Lets workers return from what they do; tasks on their way become stale."""
        self.area.end_block()

    def forget(self) -> None:
        """Lets go of all queues: their tasks are for stages that the chain no longer has."""
        self._dealer.begin(None)
        self.queues.clear()

    def receive(self) -> Any:
        """The next batch of the current block. Raises what the user's code raised, LoaderGone."""
        before = self.empties
        while True:
            if self._early:
                self.task, batch, self.parcel = self._early.popleft()
            else:
                batch = self._next()
            held = self._dealer.held(self.task.number)
            if held is not None:
                self.task, batch, self.parcel = held.task, held.batch, held.parcel
            if not isinstance(batch, (Empty, Stale)):
                return batch
            self.empties += isinstance(batch, Empty)
            # Batches may be on their way that a worker made before it had nothing left.
            if self.empties - before > self.in_flight and (why := self.area.why_empty()):
                raise LoaderGone(why)

    def head_is_ready(self) -> bool:
        """True if the next batch in order is made, and pinned: receiving it does not wait."""
        return self.knows_what_is_ready and self._is_done(self.received + 1)

    @property
    def knows_what_is_ready(self) -> bool:
        """True with workers whose batches come in order."""
        return self.workers > 0 and self.in_order

    def ready(self) -> int:
        """Batches that are made and not yet received, in order."""
        return sum(self._is_done(n) for n in range(self.received + 1, self.issued + 1))

    def _is_done(self, number: int) -> bool:
        if self._pin_log is not None:
            return number in self._pin_log.done
        return self.area.last_done((number - 1) % self.workers) >= number

    def pids(self) -> list[int]:
        """The workers that have begun."""
        return [pid for pid in self.area.pids() if pid > 0] if self.workers > 0 else []

    def close(self) -> None:
        """Ends the workers. The loader can be begun again; its caches are then empty."""
        self.area.end_block()
        self._dealer.make_task = None
        if self._iterator is not None and self.knows_what_is_ready:
            interrupt_stuck(self.area, self.issued)
        end_workers(self._iterator)
        self.area.forget_workers()
        self._iterator = None
        self._loader = None
        self.issued = self.received = 0
        self._outstanding.clear()
        self._early.clear()
        self._dealer.clear()
        self.queues.clear()
        if self._pin_log is not None:
            self._pin_log.done.clear()

    def _start(self) -> None:
        from torch.utils.data import DataLoader

        gc.collect()
        if freezes := gc.get_freeze_count() == 0:
            gc.freeze()  # Forked workers then share what this process holds for longer.
        try:
            with HeldInterrupt(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # The user's own loader has given them.
                self._loader = DataLoader(self._boundary, **self._arguments)
                self._iterator = iter(self._loader)
        finally:
            if freezes:
                gc.unfreeze()

    def _next(self) -> Any:
        """The batch of the next task, old or new; `task` is set."""
        assert self._iterator is not None
        try:
            batch = next(self._iterator)
        except StopIteration:
            raise LoaderGone("the shadow loader ended") from None
        except Exception as error:
            death = death_of_worker(error, getattr(self._iterator, "_workers", ()))
            if death is not None:
                self.close()  # The other workers would go on taking memory.
                raise LoaderGone(f"{death}{hint(death)}") from error
            self._count(self.received + 1)
            raise
        self.parcel = batch if isinstance(batch, Parcel) else None
        if self.parcel is not None:
            number, batch, self.parcel.batch = self.parcel.number, self.parcel.batch, None
        elif not self.in_order:
            number, batch = batch
        else:
            number = self.received + 1
        self._count(number)
        return batch

    def _count(self, number: int) -> None:
        self.task = self._outstanding.pop(number)
        self.received += 1
        if self._pin_log is not None:
            self._pin_log.done.discard(number)

    def next_task(self) -> Task:
        """For the batch sampler: the next task of the current block."""
        self.issued += 1
        task = self._dealer.next(self.issued)
        self._outstanding[self.issued] = task
        return task
