"""Answers the engine from inside a training loop.

The loop pulls batches from a Proxy. Its `__next__` notes that a step has ended, posts the result of
a block that is over, waits for the next request and serves the batch of the present arm. Everything
runs in the training thread.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Optional

from .._job.attempts import Attempts
from .._job.blocks import Block
from .._job.pass_through import PassThrough
from .._job.rank_without_loader import Rank
from .._job.ranks import rank_and_world
from .._job.step_changes import changes_of
from .answers import Answers
from .errors import error_fields, is_failure_of_job
from .greeting import greeting
from .messages import LOOP_ENDED, Connection, ConnectionLost, Message

_ENDED_EARLY = "training ended before the measurement did: take more steps, or lower --budget"

_AT_ONCE = contextlib.nullcontext()


class Finished(Exception):
    """The engine sent `finish`; `message` is it."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message.get("text", "")))
        self.message = message


class Adapter:
    """One conversation with the engine. `make_job(writes_batches)` is called for `describe`."""

    def __init__(self, connection: Connection, make_job: Callable[[bool], Rank]) -> None:
        self._connection = connection
        self._answers = Answers(connection)
        self._make_job = make_job
        self._job: Optional[Rank] = None
        self._block: Optional[Block] = None
        self._attempts: Optional[Attempts] = None
        self._world = 1
        self.notes: list[str] = []
        self.failure: Optional[Exception] = None  # What the loader raised.
        self.not_kept: Callable[[], list[str]] = list  # New files that steps saved elsewhere.
        self._passed = PassThrough()

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

    def learn(self, passed: PassThrough) -> None:
        """What the steps through the untouched loader have shown."""
        self._passed = passed
        self.notes += passed.notes()

    def answer_greeting(self) -> None:
        """Answers one `hello`. Raises ConnectionLost."""
        self._answer(self._connection.next_request())

    def disturb(self, on_all_ranks: bool) -> None:
        """Something other than training steps runs now: the block begins again after it.

        If other ranks may not do the same, they must not take fewer steps: the block is void.
        """
        if self._block is None:
            return
        if on_all_ranks or self._world == 1:
            self._block.is_disturbed = True
        else:
            self._block.is_void = True

    def interruptible(self) -> contextlib.AbstractContextManager[None]:
        """Around what the thread waits for. Raises Interrupted if `stop` has arrived."""
        if self._world > 1:  # Other ranks would wait for a step that never comes.
            return contextlib.nullcontext()
        self._connection.check_stop()
        return self._connection.interruptible()

    def next_batch(self) -> Any:
        """Called when a step has ended. Returns the batch for the next one. Raises Finished, and
        ConnectionLost if the engine ended."""
        while True:
            if self._block is None:
                self._serve_requests()
            block = self._block
            assert block is not None
            try:
                if block.is_disturbed and self._begin_again(block):
                    continue
                if block.enter():
                    self._end_block(block)
                    continue
                with self.interruptible():
                    return block.take()
            except ConnectionLost:
                raise
            except Exception as error:
                self._give_up(error)

    def may_end_epoch(self) -> bool:
        """False while a block runs for which the epoch is held. Called when a step has ended: a
        block that is complete by then ends. Raises ConnectionLost."""
        block = self._block
        if block is None or self._job is None or not self._job.room.holds_epochs:
            return True
        if not block.is_complete():
            return False
        block.enter()
        self._end_block(block)
        return True

    def fail(self, error: BaseException, stage: Optional[str] = None) -> None:
        """The step failed, or the user interrupted: the open request is answered with an error."""
        self._give_up(error, stage)

    def forgives(self, error: Exception) -> bool:
        """True if the step that failed was computed in another way: that is the answer, and the
        loop goes on."""
        request = self._connection.open_request or {}
        if self._block is None or not changes_of(request.get("arm", {}).get("overrides") or {}):
            return False
        self._give_up(error, "step")
        return True

    def end_with_script(self, error: Optional[BaseException]) -> None:
        """The script ends, by `error` if there is one: the engine writes the report so far."""
        with contextlib.suppress(ConnectionLost):
            if error is not None:
                self.fail(error, "step")
            elif self._connection.open_request is not None:
                self._connection.answer_error(self._connection.open_request, "data", _ENDED_EARLY)
            self.wait_for_finish()

    def wait_for_finish(self, error: Exception = LOOP_ENDED) -> Message:
        """Answers requests with `error` until `finish` arrives. Raises ConnectionLost."""
        try:
            while True:
                request = self._connection.open_request or self._connection.next_request()
                if request.get("type") in ("finish", "hello"):
                    self._answer(request)
                else:
                    self._connection.answer_error(request, **error_fields(error, request))
        except Finished as finished:
            return finished.message

    def close(self) -> None:
        """Ends workers and the connection; training may go on."""
        if self._block is not None:
            self._block.end()
            self._block = None
        if self._job is not None:
            try:
                self._job.state.restore_all()
            finally:
                self._job.close()
        self._connection.close()

    # Requests

    def _serve_requests(self) -> None:
        """Until a block runs."""
        while self._block is None:
            request = self._connection.open_request or self._connection.next_request()
            try:
                with self.interruptible() if request.get("type") != "finish" else _AT_ONCE:
                    self._answer(request)
            except (ConnectionLost, Finished):
                raise
            except Exception as error:
                self._give_up(error)

    def _answer(self, request: Message) -> None:
        kind = request.get("type")
        answer = self._connection.answer
        if kind == "hello":
            answer(request, **greeting())
        elif kind == "finish":
            answer(request)
            raise Finished(request)
        elif kind == "describe":
            rank, self._world = rank_and_world()
            self._job = self._make_job(self._passed.writes_batches)
            described = self._job.describe(self._passed, self.notes)
            answer(request, rank=rank, world=self._world, **described)
        elif self._job is None:
            self._connection.answer_error(request, "internal", f"{kind} before describe")
        elif kind == "run":
            # A rank without a loader is told that of the others.
            group = request.get("group_steps") or self._job.steps_of_group(
                self._passed.batches_per_step
            )
            self._attempts = Attempts(request, self._job.room, group)
            self._begin_block(self._job)
        elif not self._answers.answer(self._job, request, self._passed):
            self._connection.answer_error(request, "internal", f"unknown request {kind!r}")

    def _begin_block(self, job: Rank) -> None:
        assert self._attempts is not None
        self._block = job.begin_block(self._attempts.next_request())

    def _begin_again(self, block: Block) -> bool:
        """False: the disturbed block goes on, and is void."""
        assert self._attempts is not None and self._job is not None
        block.is_disturbed = False
        if not self._attempts.begins_again(block.taken):
            block.is_void = True
            return False
        self._block = None
        block.end()
        self._begin_block(self._job)
        return True

    def _end_block(self, block: Block) -> None:
        self._block = None
        block.end()
        request = self._connection.open_request
        assert request is not None
        self._connection.answer(request, block={**block.result(), "not_kept": self.not_kept()})

    def _give_up(self, error: BaseException, stage: Optional[str] = None) -> None:
        block, self._block = self._block, None
        if block is not None:
            block.end()
        request = self._connection.open_request
        if request is None:
            return
        if isinstance(error, Exception) and is_failure_of_job(error, request):
            self.failure = error
        self._connection.answer_error(request, stage=stage, **error_fields(error, request))
