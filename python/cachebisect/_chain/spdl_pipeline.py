"""A pipeline of SPDL as its builder describes it: its stages, and pipelines made of some of them.

spdl is imported by what the user gives; here it is used by its public names. Not thread safe.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import sys
import threading
import time
from collections.abc import AsyncIterable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, Optional

from .gate import Gate
from .node_epoch import PATIENCE_SECONDS
from .sharing import gives_once
from .slots import callable_name

_POLL_SECONDS = 0.002
_END_SECONDS = 1.0
_STILL = 5
"""Times in a row that all threads are seen to wait: the event loop hands items on meanwhile."""
_WAITING = ("threading", "queue", "selectors", "asyncio", "concurrent.futures")
_THREADS = "spdl"
"""How the names of SPDL's threads begin."""
_KINDS = {
    "PipeConfig": "pipe",
    "AggregateConfig": "aggregate",
    "DisaggregateConfig": "disaggregate",
}


class SpdlPipeline:
    """What `described` describes: a PipelineBuilder or a PipelineConfig. Iterating it runs a new
    pipeline each time. `build`: arguments of build_pipeline().

    Raises TypeError for anything else, what get_config() raises.
    """

    name = "SPDL pipeline"
    num_workers = 0

    def __init__(self, described: Any, build: dict[str, Any]) -> None:
        config = described.get_config() if hasattr(described, "get_config") else described
        if type(config).__name__ != "PipelineConfig":
            raise TypeError(
                f"a PipelineBuilder or PipelineConfig of spdl.pipeline is needed, not a "
                f"{type(described).__name__}: a Pipeline that was built does not tell its stages"
            )
        self._config = config
        self._build = dict(build)
        self.stages: list[Any] = [config.src, *config.pipes]
        """Their configurations, the source first."""

    def __iter__(self) -> Iterator[Any]:
        return self.opened(self._config.src, self._config.pipes)

    @property
    def source(self) -> Any:
        """The iterable that items come from."""
        return self._config.src.source

    @property
    def threads(self) -> int:
        """That one pipeline runs."""
        return int(self._build.get("num_threads", 1)) + 2

    @property
    def sink_size(self) -> int:
        """Batches that the sink holds in advance."""
        return int(self._config.sink.buffer_size)

    @property
    def why_not(self) -> str:
        """Why its stages cannot be measured one by one, in words; empty: they can."""
        source = self._config.src
        if type(source).__name__ != "SourceConfig" or isinstance(source.source, AsyncIterable):
            return "its source is merged or asynchronous"
        if source.continuous:
            return "its source is continuous"
        if gives_once(source.source) or not isinstance(source.source, Iterable):
            return "its source gives each item once"
        others = [type(stage).__name__ for stage in self.stages[1:]]
        odd = [name for name in others if name not in _KINDS]
        if odd:
            return f"it has a {odd[0]}"
        if self._build.get("background_tasks"):
            return "it has background tasks"
        try:
            list(map(_with_own_state, self.stages[1:]))
        except Exception as error:  # What deepcopy meets there.
            return f"what aggregates its items cannot be copied: {type(error).__name__}: {error}"
        return ""

    def apart(self) -> SpdlPipeline:
        """The same with aggregators of its own, while none of them keeps items. Raises what copying
        them does."""
        pipes = list(map(_with_own_state, self.stages[1:]))
        return SpdlPipeline(dataclasses.replace(self._config, pipes=pipes), self._build)

    def opened(self, source: Any, pipes: Sequence[Any], gate: Optional[Gate] = None) -> SpdlRun:
        """A pipeline of these that runs. `source`: its SourceConfig. `gate`: what all its items
        pass, if there is one. Raises what SPDL raises."""
        build_pipeline = sys.modules["spdl.pipeline"].build_pipeline
        own = pipes if self.why_not else map(_with_own_state, pipes)
        config = dataclasses.replace(self._config, src=source, pipes=list(own))
        return SpdlRun(build_pipeline(config, **self._build), gate)

    def opened_behind(self, items: Iterable[Any], pipes: Sequence[Any], gate: Gate) -> SpdlRun:
        """The same with other items, which come while the gate is open."""
        source = dataclasses.replace(self._config.src, source=_Gated(items, gate))
        return self.opened(source, pipes, gate)


class SpdlRun(Iterator[Any]):
    """The items of a pipeline, which is started here. Raises what its functions raise."""

    def __init__(self, pipeline: Any, gate: Optional[Gate]) -> None:
        self._pipeline: Any = pipeline
        self._gate = gate
        pipeline.start()
        self._items = pipeline.get_iterator()

    def __next__(self) -> Any:
        if self._pipeline is None:
            raise StopIteration
        try:
            return next(self._items)
        except StopIteration:
            self.end()
            raise

    def rest(self) -> None:
        """Waits until no thread of SPDL runs a function of the user's; at most for a while."""
        until = time.monotonic() + PATIENCE_SECONDS
        still = 0
        while still < _STILL and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            frames = sys._current_frames()
            own = [thread for thread in threading.enumerate() if thread.name.startswith(_THREADS)]
            is_still = all(_waits(frames.get(thread.ident or 0)) for thread in own)
            still = still + 1 if is_still else 0

    def end(self) -> None:
        """Ends its threads. What it has made in advance is dropped."""
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is None:
            return
        if self._gate is not None:
            self._gate.end()
            with contextlib.suppress(Exception):  # With full queues, stop() waits for seconds.
                until = time.monotonic() + _END_SECONDS
                for _ in pipeline.get_iterator(timeout=_END_SECONDS):
                    if time.monotonic() > until:
                        break
        with contextlib.suppress(Exception):  # Of a function, which nobody waits for any more.
            pipeline.stop()

    _shutdown_workers = end
    """By the name that the iterator of a DataLoader has for it."""

    def __del__(self) -> None:
        if getattr(self, "_pipeline", None) is not None:
            self.end()


class _Gated:
    """The items of `source` while the gate is open."""

    def __init__(self, source: Iterable[Any], gate: Gate) -> None:
        self._source = source
        self._gate = gate

    def __iter__(self) -> Iterator[Any]:
        for item in self._source:
            if not self._gate.lets_in():
                return
            yield item


def name_of_stage(stage: Any) -> str:
    """What its builder calls it, and what it works by."""
    kind = _KINDS.get(type(stage).__name__, "source")
    if kind == "source":
        return f"source {callable_name(stage.source)}"
    if kind == "aggregate":
        size = getattr(stage.op, "n", None)
        return f"aggregate {callable_name(stage.op)}" if size is None else f"aggregate({size})"
    if kind == "disaggregate":
        return kind
    at_once = concurrency_of(stage)
    return f"pipe {stage.name}" + (f" (concurrency {at_once})" if at_once > 1 else "")


def type_of_stage(stage: Any) -> str:
    """ "category.name" of docs/extend/protocol.md."""
    kind = _KINDS.get(type(stage).__name__, "source")
    if kind == "source":
        return f"read.{callable_name(stage.source)}"
    if kind != "pipe":
        return f"node.{kind}"
    return f"{'collate' if 'collate' in stage.name.lower() else 'map'}.{stage.name}"


def makes_batches(stage: Any) -> bool:
    """True for one that joins items."""
    return type(stage).__name__ == "AggregateConfig"


def concurrency_of(stage: Any) -> int:
    """Items that a stage works on at the same time."""
    return int(getattr(getattr(stage, "_args", None), "concurrency", 1))


def taken_for_one(stage: Any) -> Optional[float]:
    """Items that a stage takes for each that it gives; None if that does not show."""
    if makes_batches(stage):
        size = getattr(stage.op, "n", None)
        return float(size) if type(size) is int else None
    return 1.0 if type(stage).__name__ == "PipeConfig" else None


def _with_own_state(stage: Any) -> Any:
    """An aggregator keeps the items of a batch until it is whole: each pipeline has its own."""
    if not makes_batches(stage):
        return stage
    return dataclasses.replace(stage, op=copy.deepcopy(stage.op))


def _waits(frame: Optional[FrameType]) -> bool:
    return frame is None or str(frame.f_globals.get("__name__", "")).startswith(_WAITING)
