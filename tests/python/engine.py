"""A small engine for tests: asks an adapter over a real socket, in a thread of its own."""

from __future__ import annotations

import json
import select
import socket
import threading
from typing import Any, Callable, Optional

import message_schema


class TestEngine:
    """`script(engine)` runs in a thread; `ask()` sends a request and returns the answer."""

    __test__ = False

    def __init__(self, path: str, script: Callable[[TestEngine], None]) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen()
        self._script = script
        self._next_id = 0
        self._others: list[Any] = []
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ask(self, type_: str, **fields: Any) -> dict[str, Any]:
        self.send(type_, **fields)
        return self.answer()

    def send(self, type_: str, **fields: Any) -> None:
        self._next_id += 1
        self.send_bytes(json.dumps({"id": self._next_id, "type": type_, **fields}).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        self._channel.sendall(data)

    def stop(self) -> dict[str, Any]:
        """Sends `stop` until the open request is answered, as the engine does."""
        while True:
            self.send("stop")
            if select.select([self._channel], [], [], 0.25)[0]:
                return self.answer()

    def answer(self) -> dict[str, Any]:
        while True:
            line = self._reader.readline()
            if not line:
                raise EOFError("the adapter closed the connection")
            message: dict[str, Any] = json.loads(line)
            if message["type"] != "busy":
                assert message["id"] <= self._next_id
                message_schema.check(message)
                return message

    def greet(self) -> dict[str, Any]:
        """hello and describe."""
        hello = self.ask("hello", protocol=1, engine="test")
        assert hello["protocol"] == 1
        self.pid = hello["pid"]
        return self.ask("describe")

    def run(self, kind: str = "replay", **request: Any) -> Any:
        """One block; its result. `request`: as in ask_for_block()."""
        answer = self.ask_for_block(kind, **request)
        assert answer["type"] == "run", answer
        return answer["block"]

    def ask_for_block(
        self,
        kind: str = "replay",
        steps: int = 4,
        warmup: int = 2,
        profile: bool = False,
        settling: Optional[int] = None,
        **arm: Any,
    ) -> Any:
        """The answer to the request for a block, which may be an error. `settling`: as the engine
        says it to ranks."""
        whole = {"boundary": 0, "stage": 0, "overrides": {}, "observed": True, "cache_samples": 0}
        return self.ask(
            "run", arm={"kind": kind, **whole, **arm}, steps=steps, warmup_steps=warmup,
            seed=1, groups=1, max_seconds=0, profile=profile, settling_steps=settling,
        )  # fmt: skip

    def accept_another(self) -> None:
        """From now on the next process that connects is spoken to; the first one waits."""
        self._others.append((self._channel, self._reader))
        self._channel, _ = self._listener.accept()
        self._reader = self._channel.makefile("rb")

    def finish(self) -> None:
        self.ask("finish", then="continue", exit_code=0, text="")

    def join(self) -> None:
        self._thread.join(60)
        self._listener.close()
        if self.failure is not None:
            raise self.failure
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._channel, _ = self._listener.accept()
            self._reader = self._channel.makefile("rb")
            try:
                self._script(self)
            finally:
                for channel, reader in [*self._others, (self._channel, self._reader)]:
                    reader.close()
                    channel.close()
        except BaseException as error:
            self.failure = error
