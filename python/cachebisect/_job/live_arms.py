"""Live arms: with other settings than the user's, from loaders of their own. Not thread safe."""

from __future__ import annotations

from typing import Any, Optional

from .._chain.description import Chain
from .._chain.settings import (
    MALLOC,
    NEED_DEVICE,
    NEED_MODEL,
    ON_DEVICE,
    ORDER,
    READ_THREADS,
    runnable,
    value_of,
)
from .._worker import allocator
from .caches import Progress
from .dask_clusters import DaskClusters
from .feed_maker import FeedMaker
from .feeds import Feed
from .loaders import MeasuredLoader
from .moving_feed import MovingFeed
from .on_device import DeviceStages
from .on_disk import OnDisk
from .other_order import OtherOrders
from .read_threads import ReadThreads
from .shadow import ShadowLoader
from .step_changes import StepChanges, changes_of
from .unused_parts import UnusedParts

_UNTIMED = frozenset({READ_THREADS, ORDER})
"""Settings with which stages are not timed."""


class LiveArms:
    """`device`: the torch.device of the step, None for the CPU. `step`: other ways of computing."""

    def __init__(self, loader: MeasuredLoader, device: Any, step: StepChanges) -> None:
        self.device = device
        self.non_blocking: Optional[bool] = False
        """How the step itself moves its batches; None: that was not seen."""
        self.why = ""
        """Why the arm that was asked for last cannot run; if it can: what is not sure of it."""
        self._loader = loader
        self._step = step
        self._on_device: dict[str, DeviceStages] = {}
        self._threads = ReadThreads(loader)
        self._orders = OtherOrders(loader)
        self._on_disk = OnDisk(loader)
        self._dask = DaskClusters()
        self.unused = UnusedParts()

    def orders(self, chain: Chain) -> tuple[str, ...]:
        """Which crop may run before which stage."""
        return self._orders.words(chain)

    def can_run(self, arm: dict[str, Any], chain: Chain, progress: Progress) -> bool:
        """True if a live arm with overrides can run. Sets `why`. Writes what the arm reads.

        Raises what `progress` raises.
        """
        self.why = ""
        if arm.get("kind") != "live" or self._loader.shadow is None:
            return False
        overrides = set(arm.get("overrides", {}))
        if not overrides <= runnable() or (overrides & NEED_DEVICE and self.device is None):
            return False
        why_not_kept = allocator.why_not() if MALLOC in overrides else ""
        self.why = (
            why_not_kept
            or self.unused.why_not(arm)
            or self._on_disk.prepare(arm, progress)
            or self._why_not_step(arm)
        )
        if self.why:
            return False
        try:
            self._shadow(arm, chain)
        except Exception as error:  # Its dataset, too, may fail.
            lines = str(error).splitlines() or [type(error).__name__]
            self.why = lines[-1]  # Of an error in a worker: what it says there.
            return False
        self.why = self._threads.note or self._orders.note
        return True

    def feed(self, arm: dict[str, Any], feeds: FeedMaker) -> tuple[Feed, Optional[ShadowLoader]]:
        """What a block of any arm takes its batches from, and the loader behind it.

        Raises what the constructor of DataLoader raises, filled() of _cache/trial.py, DeviceStages,
        ReadThreads, OtherOrders.
        """
        shadow = self._shadow(arm, feeds.chain)
        overrides = arm.get("overrides") or {}
        # The counters of stages are for one thread, and so is what stands in their places.
        shown = {**arm, "observed": False} if _UNTIMED & set(overrides) else arm
        feed = feeds.feed(shown, shadow)
        changes = changes_of(overrides)
        if changes:
            feed = self._step.over(feed, changes)
        if not NEED_DEVICE & set(overrides):
            return self.unused.over(arm, feed), shadow
        waits_not = value_of(overrides, "non_blocking", self.non_blocking)
        stages = self._stages(arm, feeds.chain)
        moving = MovingFeed(feed, self.device, bool(waits_not), stages)
        return self.unused.over(arm, moving), shadow

    def forget(self) -> None:
        """The chain has other stages from now on."""
        self._on_device.clear()
        self._orders.forget()

    def close(self) -> None:
        """After the loaders."""
        self._on_disk.close()
        self._dask.close()
        self._step.close()

    def _why_not_step(self, arm: dict[str, Any]) -> str:
        """Of a step that is computed in another way; empty if it can be."""
        overrides = arm.get("overrides") or {}
        unchanged = [name for name in NEED_MODEL if overrides.get(name) == "false"]
        if unchanged:
            return f"{unchanged[0]}=False changes nothing"
        changes = changes_of(overrides)
        return self._step.why_not(changes) if changes else ""

    def _shadow(self, arm: dict[str, Any], chain: Chain) -> Optional[ShadowLoader]:
        arm = self.unused.named(arm)
        threaded, ordered = self._threads.of(arm, chain), self._orders.of(arm, chain)
        on_device, on_disk = self._stages(arm, chain), self._on_disk.of(arm)
        host_part = None if on_device is None else on_device.host_part
        found = (on_disk, ordered, host_part, threaded)
        changes = [change for change in found if change is not None]
        return self._loader.variant(self._dask.placed(_of_loader(arm)), changes)

    def _stages(self, arm: dict[str, Any], chain: Chain) -> Optional[DeviceStages]:
        first = value_of(arm.get("overrides") or {}, ON_DEVICE, None)
        if first is None:
            return None
        if first not in chain.on_device_from:
            raise ValueError(f"{first} cannot run on the device")
        if first not in self._on_device:
            self._on_device[first] = DeviceStages(self._loader.own, chain.plan, first)
        return self._on_device[first]


def _of_loader(arm: dict[str, Any]) -> dict[str, Any]:
    """What of the arm is not of the step alone."""
    overrides = arm.get("overrides") or {}
    kept = {name: value for name, value in overrides.items() if name not in NEED_MODEL}
    return {**arm, "overrides": kept}
