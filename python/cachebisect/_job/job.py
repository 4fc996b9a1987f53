"""The measured job: a loader, its chain, its caches and its blocks. Answers what the engine asks.

Knows nothing of sockets and of who drives the training loop. Not thread safe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

from .._chain import facts, pinning
from .._chain.description import READ, chain_of_loader
from .._chain.settings import described_settings
from . import described
from .arms import arms
from .attempts import Room
from .blocks import Block
from .caches import Caches, Progress
from .companions import Companion, Companions
from .device_marks import DeviceMarks
from .feed_maker import FeedMaker
from .feeds import HeldBatches
from .live_arms import LiveArms
from .loaders import MeasuredLoader
from .needs import queues_fit
from .pass_through import PassThrough
from .state import KeptState
from .step_changes import StepChanges
from .storage import count_storage
from .unseen import prepare_unseen


class Job:
    """Measures `loader`: a torch DataLoader, or any iterable of batches.

    `device`: the torch.device of the step, or None for the CPU. Raises ValueError for one whose
    steps cannot be timed, and what the loader raises. `writes_batches`: the step changes
    its batches in place. `name`: of the report. `companions`: other loaders that each step reads.
    `samples_per_batch`: what each batch counts as, if its tensors do not tell. `step`: other ways
    to compute the step.
    """

    def __init__(
        self,
        loader: Any,
        state: KeptState,
        device: Any = None,
        writes_batches: bool = False,
        name: str = "",
        train: str = "step",
        companions: Sequence[Companion] = (),
        samples_per_batch: Optional[int] = None,
        step: Optional[StepChanges] = None,
    ) -> None:
        if device is not None and device.type not in facts.DEVICE_KINDS:
            raise ValueError(f"steps on {device} cannot be timed: only on cpu and cuda devices")
        self.loader = loader
        self.state = state
        self.device = device if device is not None and device.type != "cpu" else None
        self.name = name
        self.train = train
        self.room = Room()
        self._marks = DeviceMarks(self.device)
        self._loader = MeasuredLoader(loader, samples_per_batch)
        self._live = LiveArms(self._loader, self.device, step or StepChanges(None, state))
        self._companions = Companions(companions)
        try:
            self.chain = self._loader.find_chain(self.device is not None)
            self._companions.add_to(self.chain)
        except BaseException:
            self._loader.close()
            raise
        held = HeldBatches(sizes=[self.batch_size], serve_copies=writes_batches)
        self._caches = Caches(self._loader, self.chain, held, self.device)
        found = self._loader
        self._feeds = FeedMaker(
            self.chain, held, found.batch_size, found.order, found.shadow, found.next_batch,
            found.nodes,
        )  # fmt: skip
        self._feeds.samples_per_batch = samples_per_batch
        self._feeds.make_room = found.make_room

    @property
    def workers(self) -> int:
        """Workers of the loader; 0: the training process loads."""
        return self._loader.workers

    def steps_of_group(self, batches_per_step: int) -> int:
        """Batches after which every worker has finished as many as the others, and the optimizer
        has stepped."""
        return math.lcm(max(1, self.workers), batches_per_step)

    @property
    def batch_size(self) -> int:
        """Samples per batch."""
        return self._loader.batch_size

    def describe(self, passed: PassThrough, notes: list[str]) -> dict[str, Any]:
        """Fields of the answer to `describe`. `passed`: steps through the untouched loader."""
        workers, in_flight = self.workers, self._loader.in_flight
        size, tensors = passed.batch_bytes, passed.batch_tensors
        self._feeds.keeps_queues = queues_fit(self._loader, self.chain.last, size, tensors)
        self._feeds.period = passed.batches_per_step
        self._feeds.usual_wait = passed.waited_per_batch()
        if self.device is not None:
            self._live.non_blocking = passed.copies_without_waiting()
        chain: dict[str, Any] = {
            "name": self.name,
            "batch_size": self.batch_size,
            "workers": workers,
            "loader": "batch",
            "ring_slots": in_flight + 1 if workers else 0,
            "ring_prefetch": in_flight,
            "keeps_queues": self._feeds.keeps_queues,
            "batches_per_step": passed.batches_per_step,
            "shuffle": True,
            "train": self.train,
            "weights_restored": bool(self.state),
            "copy_pinned": pinning.happens(self.loader) and bool(self.device),
            "copy_non_blocking": self._live.non_blocking,
            **facts.described_device(self.device),
            "epoch_start_seconds": passed.epoch_start_seconds(),
            "worker_processes": True,
            "profiles_steps": True,
            "counts_storage": self._loader.shadow is not None,
            "stages": [stage.to_json() for stage in self.chain.stages],
            **described.of_loader(self.loader, self.batch_size),
            **described.of_cache(self.chain),
            **self._loader.worker_facts(passed.unused()),
        }
        if not self.state:
            notes = [*notes, "weights are not restored between rounds: no state was given"]
        self._live.unused.found = self._loader.found.unused
        found, of_workers, orders = self.chain, self._loader.found, self._live.orders(self.chain)
        settings = described_settings(
            found.cached_after, found.on_device_from, found.of_data_loader, found.single_samples,
            found.decodes, orders, {**of_workers.lines(), **found.lines}, found.reads,
            dask=of_workers.dask_threads is not None,
        )  # fmt: skip
        answer: dict[str, Any] = {
            "chain": chain,
            "arms": arms(self._loader, self.chain),
            "settling_steps": self._feeds.settling_steps(),
            **settings,
        }
        answer["notes"] = [*notes, *self._caches.notes, *self.chain.notes]
        rate = passed.rate()
        if rate is not None:
            answer["expect_samples_per_second"] = rate
        return answer

    def use_queues(self, keep: bool) -> None:
        """Whether blocks go on with what the last ones of their arms left; before the first block.
        With several ranks all of them do, or none."""
        self._feeds.keeps_queues &= keep

    def supports(self, arm: dict[str, Any], progress: Progress = lambda _text: None) -> bool:
        """True if a live arm with overrides can run; what it reads is written first."""
        return self._live.can_run(arm, self.chain, progress)

    @property
    def why(self) -> str:
        """Why supports() gave False, in one line; empty: nothing more is known."""
        return self._live.why

    def look_inside(self, stage: str, samples: int) -> bool:
        """Makes stages of functions that `stage`, the dataset's own code, calls. True if it found
        some: the chain has changed, and the caches are empty. Adds a note otherwise."""
        read = next((s.name for s in self.chain.stages if s.place == READ), None)
        if stage != read:
            self.chain.notes = [f"--inside: '{stage}' is not the dataset's own code"]
            return False
        found = self._loader.look_inside(self.chain.plan, samples)
        if found["stages"] is None:
            self.chain.notes = [f"--inside: {found['note']}"]
            return False
        self.chain = chain_of_loader(self.loader, found, self.device is not None)
        self._companions.add_to(self.chain)
        self._feeds.chain = self.chain
        self._caches.use_chain(self.chain)
        self._loader.forget_queues()
        self._live.forget()
        return True

    def count_storage(self, samples: int, max_seconds: float) -> Optional[dict[str, Any]]:
        """`storage` of docs/extend/protocol.md; None for a loader whose samples are not seen."""
        return count_storage(self._loader, self.chain.plan, samples, max_seconds)

    # Caches

    @property
    def cached_samples(self) -> int:
        """K: samples in the caches."""
        return self._caches.samples

    def sizes(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Fields of the answer to `sizes`."""
        return self._caches.sizes(samples, progress)

    def fill(self, samples: int, progress: Progress) -> dict[str, Any]:
        """Caches about `samples` samples; returns `cache` of docs/extend/protocol.md."""
        facts = self._caches.fill(samples, progress)
        self._companions.fill(self._caches.batches, self.device)
        return facts

    # Rounds and blocks

    def begin_round(self) -> None:
        """Restores the state."""
        self.state.restore()

    def begin_block(self, request: dict[str, Any]) -> Block:
        """Starts the block of a `run` request."""
        if request["arm"].get("kind") == "unseen":
            prepare_unseen(self._loader, self.chain, request)
        feed, shadow = self._live.feed(request["arm"], self._feeds)
        order = self._loader.order
        block = Block(
            request,
            feed,
            self.chain,
            shadow,
            self._marks,
            lambda: order.seconds if order else 0.0,
            self._feeds.held.pin_python_seconds,
            self._companions,
        )
        self._companions.serve(request["arm"], self.chain, feed.waiting)
        block.begin(self._loader.next_block())
        return block

    def cpu_seconds(self) -> float:
        """CPU time of this process and of all its children so far."""
        return self._loader.cpu_seconds()

    def close(self) -> None:
        """Ends all workers and frees all caches."""
        self._loader.close()
        self._live.close()
        self._companions.close()
        self._caches.clear()
        self._marks.close()
