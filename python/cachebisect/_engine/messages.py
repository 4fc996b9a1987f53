"""The adapter's end of the socket: one JSON object per line, in both directions.

docs/extend/protocol.md is the contract. One thread at a time may use a Connection.
"""

from __future__ import annotations

import json
import os
import socket
import time
import weakref
from collections.abc import Sequence
from typing import Any, Callable, Optional

from .stop_guard import StopGuard

PROTOCOL_VERSION = 1
MAX_MESSAGE_BYTES = 1 << 20
"""The longest message with its newline, in either direction."""

BUSY_INTERVAL_SECONDS = 20.0
"""A long request is kept alive this often; the engine waits 300 s for a sign of life."""

Message = dict[str, Any]


class ConnectionLost(Exception):
    """The engine closed the connection, or it sent what is no message."""


class Interrupted(Exception):
    """The engine asked to give up the open request."""


LOOP_ENDED = Interrupted("the training loop ended")
"""Answers requests that come after it."""


class Connection:
    """Requests from the engine, answers to it."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._buffer = b""
        self.open_request: Optional[Message] = None
        """What the engine waits for; None between an answer and the next request."""
        self._last_sent = time.monotonic()
        self.stop_requested = False
        self._guard = StopGuard(channel, self._look_for_stop)
        _close_in_children(self)

    @classmethod
    def open(
        cls, path: str, timeout: float = 10.0, alive: Callable[[], bool] = lambda: True
    ) -> Connection:
        """Connects to the engine's socket, which may not exist yet.

        Raises ConnectionLost after `timeout` seconds, or when `alive()` is false.
        """
        deadline = time.monotonic() + timeout
        while True:
            channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                channel.connect(path)
                return cls(channel)
            except OSError as error:
                channel.close()
                if time.monotonic() >= deadline or not alive():
                    raise ConnectionLost(f"cannot connect to {path}: {error}") from error
                time.sleep(0.01)

    def next_request(self) -> Message:
        """Waits for the next request. `stop` is noted and not returned.

        Raises ConnectionLost.
        """
        while True:
            message = self._take_line() or self._read_line()
            if message.get("type") == "stop":
                self.stop_requested = True
                continue
            self.open_request = message
            self.stop_requested = False
            return message

    def answer(self, request: Message, **fields: Any) -> None:
        """Answers `request` with the fields of its type."""
        self._send({"id": request.get("id"), "type": request.get("type"), **fields})
        self.open_request = None

    def answer_error(
        self,
        request: Message,
        kind: str,
        text: str,
        stage: Optional[str] = None,
        sample: Optional[int] = None,
        traceback: Sequence[str] = (),
    ) -> None:
        """Answers `request` with an error; `kind` is one of those in docs/extend/protocol.md."""
        message: Message = {"id": request.get("id"), "type": "error", "kind": kind}
        message["text"] = text[-8000:]
        if stage is not None:
            message["stage"] = stage
        if sample is not None:
            message["sample"] = sample
        if traceback:
            message["traceback"] = list(traceback)
        self._send(message)
        self.open_request = None

    def keep_alive(self, text: str) -> None:
        """Says that the open request is still worked on, at most once per interval."""
        request = self.open_request
        if request is not None and time.monotonic() - self._last_sent >= BUSY_INTERVAL_SECONDS:
            self._send({"id": request.get("id"), "type": "busy", "text": text})

    def limit_waiting(self, seconds: Optional[float]) -> None:
        """From now on ConnectionLost is raised if the engine is silent for longer; None: never."""
        self._channel.settimeout(seconds)

    def interruptible(self) -> StopGuard:
        """A context in which `stop` raises Interrupted at once, and the end of the connection
        ConnectionLost, whatever the thread waits for."""
        return self._guard

    def check_stop(self) -> None:
        """Raises Interrupted if `stop` has arrived. Does not block."""
        with self._guard.paused():
            self._look_for_stop()

    def _look_for_stop(self) -> None:
        if not self.stop_requested:
            self._receive_available()
            while self._take_stop():
                pass
        if self.stop_requested:
            raise Interrupted()

    def close(self) -> None:
        """Closes the socket; may be called twice."""
        self._guard.close()
        self._channel.close()

    def _send(self, message: Message) -> None:
        text = json.dumps(message, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        # File names that are not UTF-8 have surrogates, which JSON refuses.
        line = text.encode("utf-8", "replace") + b"\n"
        if len(line) > MAX_MESSAGE_BYTES:
            raise ConnectionLost(f"an answer of {len(line)} bytes is above {MAX_MESSAGE_BYTES}")
        with self._guard.paused():  # Half a message would be worse than a late stop.
            try:
                self._channel.sendall(line)
            except OSError as error:
                raise ConnectionLost(f"the engine closed the connection: {error}") from error
        self._last_sent = time.monotonic()

    def _read_line(self) -> Message:
        while True:
            self._receive(0)
            message = self._take_line()
            if message is not None:
                return message

    def _receive_available(self) -> None:
        try:
            self._receive(socket.MSG_DONTWAIT)
        except BlockingIOError:
            return

    def _receive(self, flags: int) -> None:
        try:
            received = self._channel.recv(1 << 16, flags)
        except BlockingIOError:
            raise
        except OSError as error:
            raise ConnectionLost(f"the engine closed the connection: {error}") from error
        if not received:
            raise ConnectionLost("the engine closed the connection")
        self._buffer += received
        if len(self._buffer) > MAX_MESSAGE_BYTES and b"\n" not in self._buffer:
            raise ConnectionLost(f"the engine sent a message above {MAX_MESSAGE_BYTES} bytes")

    def _take_line(self) -> Optional[Message]:
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return None
        self._buffer = rest
        return _parsed(line)

    def _take_stop(self) -> bool:
        """Consumes a `stop` that stands first in the buffer."""
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline or _parsed(line).get("type") != "stop":
            return False
        self._buffer = rest
        self.stop_requested = True
        return True


def _parsed(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ConnectionLost(f"the engine sent what is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ConnectionLost("the engine sent JSON that is not an object")
    return message


def _close_in_children(connection: Connection) -> None:
    """Forked workers close the socket, so that the engine notices the end of this process."""
    reference = weakref.ref(connection)

    def close() -> None:
        alive = reference()
        if alive is not None:
            alive.close()

    os.register_at_fork(after_in_child=close)
