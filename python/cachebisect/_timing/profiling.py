"""For `cachebisect profile`: torch.profiler runs over the batches that are timed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .batch_timer import BatchTimer
from .session import TimingSession


class ProfilingSession(TimingSession):
    def __init__(self, options: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        """`profile`: wait, warmup and active as in torch.profiler.schedule(); trace: the file to
        write, or empty; shapes, memory."""
        super().__init__(options)
        self._profile = profile
        self._profiler: Any = None

    def load_begun(self) -> None:
        if self._profiler is not None and self.timer.trained:
            self._profiler.step()
        super().load_begun()

    def end(self, ended_by: str) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is not None and self.follows:
            profiler.stop()
        super().end(ended_by)

    def _begin_timing(self) -> None:
        super()._begin_timing()
        untimed = int(self._profile["wait"]) + int(self._profile["warmup"])
        self.timer = BatchTimer(self._marks(), untimed)
        if self._profile["trace"]:
            self._start(sys.modules["torch"])

    def _start(self, torch: Any) -> None:
        from torch import profiler

        activities = [profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            activities.append(profiler.ProfilerActivity.CUDA)
        steps = {name: int(self._profile[name]) for name in ("wait", "warmup", "active")}
        self._profiler = profiler.profile(
            activities=activities,
            schedule=profiler.schedule(**steps, repeat=1),
            on_trace_ready=lambda done: done.export_chrome_trace(str(self._profile["trace"])),
            record_shapes=bool(self._profile["shapes"]),
            profile_memory=bool(self._profile["memory"]),
        )
        self._profiler.start()
