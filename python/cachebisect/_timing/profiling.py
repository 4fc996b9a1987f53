"""For `cachebisect profile`: torch.profiler runs over the batches that are timed, and what the
loader did for them is written too."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Mapping
from typing import Any

from .batch_timer import BatchTimer
from .fetches import Fetch, fetcher_number, read_fetches
from .session import TimingSession, write_json


class ProfilingSession(TimingSession):
    def __init__(self, options: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        """`profile`: wait, warmup and active as in torch.profiler.schedule(); trace: the file to
        write, or empty; shapes, memory; loading: the file to write; fetches: the folder of
        FetchLog."""
        super().__init__(options)
        self._profile = profile
        self._profiler: Any = None
        self._loading: list[list[int]] = []
        """By worker, the processes that trained; of all epochs."""
        self._fetchers: set[int] = set()
        """Those that loaded in this process."""

    def load_begun(self) -> None:
        profiler = self._profiler if self.timer.trained else None
        super().load_begun()
        # After the batch has ended, since the last step writes the trace.
        if profiler is not None and profiler is self._profiler:
            profiler.step()

    def trained_with(self, iterator: Any) -> None:
        processes = [worker.pid for worker in getattr(iterator, "_workers", ())]
        number = fetcher_number(iterator)
        if number is not None:
            self._fetchers.add(number)
            processes = [os.getpid()]
        pairs = itertools.zip_longest(self._loading, processes)
        self._loading = [[*(before or ()), *([pid] if pid else ())] for before, pid in pairs]

    def end(self, ended_by: str) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is not None and self.follows:
            profiler.stop()
        super().end(ended_by)

    def _write(self, ended_by: str) -> None:
        if self.timer.window is not None:
            write_json(self._profile["loading"], self._loading_content(*self.timer.window))
        super()._write(ended_by)

    def _loading_content(self, begin: int, end: int) -> dict[str, Any]:
        """Seconds from `begin`, cut to the timed batches; no workers if nothing was noted."""

        def seconds(at: int) -> float:
            return (min(max(at, begin), end) - begin) / 1e9

        workers = []
        for processes in self._loading:
            found = sorted(self._fetched_by(processes), key=lambda fetch: fetch.began)
            seen = [fetch for fetch in found if fetch.ended > begin and fetch.began < end]
            names = ("began", "collating", "ended")
            workers.append({name: [seconds(getattr(one, name)) for one in seen] for name in names})
        noted = any(worker["began"] for worker in workers)
        return {"begin_ns": begin, "seconds": seconds(end), "workers": workers if noted else []}

    def _fetched_by(self, processes: list[int]) -> list[Fetch]:
        folder = str(self._profile["fetches"])
        return [
            fetch
            for pid in dict.fromkeys(processes)
            for fetch in read_fetches(folder, pid)
            if pid != os.getpid() or fetch.fetcher in self._fetchers
        ]

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
