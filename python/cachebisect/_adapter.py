"""Answers the engine from inside a training loop.

The loop pulls batches from a Proxy. Its `__next__` notes that a step has ended, posts the result of
a block that is over, waits for the next request and serves the batch of the present arm. Everything
runs in the training thread.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any, Callable, Optional

from . import _trees
from ._blocks import Block
from ._job import Job
from ._messages import PROTOCOL_VERSION, Connection, ConnectionLost, Interrupted, Message
from ._shadow import end_workers
from ._version import __version__

PASS_STEPS = 60
PASS_MIN_STEPS = 30
PASS_SECONDS = 3.0
"""Steps through the untouched loader end after PASS_STEPS, or PASS_SECONDS and PASS_MIN_STEPS, or
five times PASS_SECONDS."""


_MIN_RATE_SECONDS = 0.5


class Finished(Exception):
    """The engine sent `finish`; `message` is it."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message.get("text", "")))
        self.message = message


class Adapter:
    """One conversation with the engine. `make_job(writes_batches)` is called for `describe`."""

    def __init__(self, connection: Connection, make_job: Callable[[bool], Job]) -> None:
        self._connection = connection
        self._make_job = make_job
        self._job: Optional[Job] = None
        self._block: Optional[Block] = None
        self.notes: list[str] = []
        self.failure: Optional[Exception] = None
        """What the loader raised."""
        self.expected_rate: Optional[float] = None
        self.writes_batches = False

    def greet(self) -> bool:
        """Answers `hello` and waits for `describe`, which stays open. False: the engine ended."""
        try:
            while True:
                request = self._connection.next_request()
                if request.get("type") == "describe":
                    return True
                self._answer(request)
        except Finished:
            return False

    def answer_greeting(self) -> None:
        """Answers one `hello`. Raises ConnectionLost."""
        self._answer(self._connection.next_request())

    def disturb(self) -> None:
        """Something other than training steps runs in the block: it is void."""
        if self._block is not None:
            self._block.is_void = True

    def check_stop(self) -> None:
        """Between pass-through steps. Raises Interrupted."""
        self._connection.check_stop()

    def next_batch(self) -> Any:
        """Called when a step has ended. Returns the batch for the next one. Raises Finished, and
        ConnectionLost if the engine ended."""
        while True:
            if self._block is None:
                self._serve_requests()
            block = self._block
            assert block is not None
            try:
                if block.enter():
                    self._end_block(block)
                    continue
                self._connection.check_stop()
                return block.take()
            except ConnectionLost:
                raise
            except Exception as error:
                self._give_up(error)

    def fail(self, error: BaseException, stage: Optional[str] = None) -> None:
        """The step failed, or the user interrupted: the open request is answered with an error."""
        self._give_up(error, stage)

    def wait_for_finish(self) -> Message:
        """Answers requests without running blocks until `finish` arrives. Raises ConnectionLost."""
        try:
            while True:
                request = self._connection.open_request or self._connection.next_request()
                if request.get("type") in ("finish", "hello"):
                    self._answer(request)
                else:
                    self._connection.answer_error(request, "interrupted", "the training loop ended")
        except Finished as finished:
            return finished.message

    def close(self) -> None:
        """Ends workers and the connection; training may go on."""
        if self._block is not None:
            self._block.end()
            self._block = None
        if self._job is not None:
            self._job.state.restore()
            self._job.close()
        self._connection.close()

    # Requests

    def _serve_requests(self) -> None:
        """Until a block runs."""
        while self._block is None:
            request = self._connection.open_request or self._connection.next_request()
            try:
                self._answer(request)
            except (ConnectionLost, Finished):
                raise
            except Exception as error:
                self._give_up(error)

    def _answer(self, request: Message) -> None:
        kind = request.get("type")
        answer = self._connection.answer
        if kind == "hello":
            answer(request, **_greeting())
        elif kind == "finish":
            answer(request)
            raise Finished(request)
        elif kind == "describe":
            self._job = self._make_job(self.writes_batches)
            answer(request, **self._job.describe(self.expected_rate, self.notes))
        elif self._job is None:
            self._connection.answer_error(request, "internal", f"{kind} before describe")
        else:
            self._answer_for(self._job, request)

    def _answer_for(self, job: Job, request: Message) -> None:
        kind = request.get("type")
        answer = self._connection.answer
        if kind == "supports":
            answer(request, supported=job.supports(request["arm"]))
        elif kind == "sizes":
            answer(request, **job.sizes(int(request["samples"]), self._progress))
        elif kind in ("prepare", "refill"):
            answer(request, cache=self._filled(job, int(request["samples"])))
        elif kind == "freshen":
            self._filled(job, 0)
            answer(request, freshened=True)
        elif kind == "begin_round":
            job.begin_round()
            answer(request)
        elif kind == "machine":
            answer(request, own_cpu_seconds=job.cpu_seconds())
        elif kind == "run":
            self._block = job.begin_block(request)
        else:
            self._connection.answer_error(request, "internal", f"unknown request {kind!r}")

    def _filled(self, job: Job, samples: int) -> dict[str, Any]:
        return job.fill(samples or job.cached_samples, self._progress)

    def _progress(self, text: str) -> None:
        self._connection.check_stop()
        self._connection.keep_alive(text)

    def _end_block(self, block: Block) -> None:
        self._block = None
        block.end()
        request = self._connection.open_request
        assert request is not None
        self._connection.answer(request, block=block.result())

    def _give_up(self, error: BaseException, stage: Optional[str] = None) -> None:
        block, self._block = self._block, None
        if block is not None:
            block.end()
        request = self._connection.open_request
        if request is None:
            return
        stopped = isinstance(error, (Interrupted, KeyboardInterrupt))
        kind = "interrupted" if stopped else "data"
        if request.get("type") == "describe" and not stopped:
            kind = "usage"
        if isinstance(error, Exception) and not stopped:
            self.failure = error
        self._connection.answer_error(request, kind, _text(error), stage)


class Proxy(Iterator[Any]):
    """Stands where the loader's iterator was.

    `own`: the untouched loader's iterator, which serves the first steps. They give the rate that
    the shadow loader must reach, and tell whether the step writes into its batches. `ends_own`: its
    workers end then.
    """

    def __init__(self, adapter: Adapter, own: Iterator[Any], ends_own: bool = False) -> None:
        self._adapter = adapter
        self._ends_own = ends_own
        self._own: Optional[Iterator[Any]] = own
        self._pass = PassThrough()
        self.finish: Optional[Message] = None
        """The engine's last message, once the loop has ended."""

    def __next__(self) -> Any:
        try:
            if self._own is not None:
                self._adapter.check_stop()
                batch = self._pass.next_batch(self._own)
                if batch is not PassThrough.OVER:
                    return batch
                self.end_own()
                self._pass.report(self._adapter)
            return self._adapter.next_batch()
        except Interrupted as error:
            self._adapter.fail(error)
            self.finish = self._adapter.wait_for_finish()
            raise StopIteration from None
        except Finished as finished:
            self.finish = finished.message
            raise StopIteration from None

    def end_own(self) -> None:
        """Lets go of the untouched loader's iterator."""
        own, self._own = self._own, None
        if self._ends_own:
            end_workers(own)


class PassThrough:
    """The first steps, through the loader as it is. Times are those of step ends.

    `before`: steps that have passed through the same loader in earlier epochs.
    """

    OVER = object()
    """In place of a batch: enough steps have passed."""

    def __init__(self, before: int = 0) -> None:
        self._before = before
        self._began = time.monotonic()
        self._first_batch_seconds = 0.0
        self._ends: list[float] = []
        self._sizes: list[int] = []
        self._last: Any = None
        self._digest = 0
        self.writes_batches = False

    def next_batch(self, own: Iterator[Any], ends: bool = True) -> Any:
        """The next batch, or OVER: `own` has ended, or (`ends`) enough has passed."""
        now = time.monotonic()
        if self._last is not None:
            self.writes_batches |= _trees.digest(self._last) != self._digest
            self._last = None
        self._ends.append(now)
        if ends and self.is_enough():
            return PassThrough.OVER
        try:
            batch = next(own)
        except StopIteration:
            return PassThrough.OVER
        if len(self._ends) == 1:
            self._first_batch_seconds = time.monotonic() - now
        self._sizes.append(_trees.count_samples(batch) or 1)
        if len(self._ends) <= 2:
            self._last, self._digest = batch, _trees.digest(batch)
        return batch

    def rate(self) -> Optional[float]:
        """Samples per second of the later two thirds; None if they are too few to tell."""
        steps = min(len(self._sizes), len(self._ends) - 1)
        first = max(2, steps // 3)
        if steps - first < 7:
            return None
        seconds = self._ends[steps] - self._ends[first]
        if seconds < _MIN_RATE_SECONDS:
            return None
        return sum(self._sizes[first:steps]) / seconds

    def report(self, adapter: Adapter) -> None:
        """Tells `adapter` what was learnt."""
        adapter.expected_rate = self.rate()
        adapter.writes_batches = self.writes_batches
        if self._first_batch_seconds >= 0.5:
            seconds = self._first_batch_seconds
            adapter.notes.append(f"the first batch of an epoch takes {seconds:.1f} s")
        if self.writes_batches:
            adapter.notes.append("the step writes into its batches: cached ones are copied")

    @property
    def steps(self) -> int:
        """That have passed through the loader, those of earlier epochs included."""
        return self._before + len(self._sizes)

    def is_enough(self) -> bool:
        """True if the rate is known well enough."""
        steps, seconds = self.steps, time.monotonic() - self._began
        if steps >= PASS_STEPS or seconds > 5 * PASS_SECONDS:
            return True
        return steps >= PASS_MIN_STEPS and seconds > PASS_SECONDS


def _greeting() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    return {
        "protocol": PROTOCOL_VERSION,
        "adapter": f"cachebisect-python {__version__}",
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", "0")),
        "world": int(os.environ.get("WORLD_SIZE", "1")),
        "python": sys.version.split()[0],
        "torch": getattr(torch, "__version__", None),
        "program": os.path.basename(sys.argv[0]) if sys.argv else "",
    }


def _text(error: BaseException) -> str:
    lines = traceback.format_exception_only(type(error), error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return "".join(lines).strip() + where
