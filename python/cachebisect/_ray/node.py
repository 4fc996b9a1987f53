"""How the workers of a node reach the command that measures them: its own socket on its machine,
else one relay, `cachebisect join`, of the node's first worker. Not thread safe.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple, Optional

from .._engine.command import find_binary

PREFIX = "CACHEBISECT_"
_TOKEN = "CACHEBISECT_TOKEN"
_SOCKET = "CACHEBISECT_SOCKET"
_JOIN_SECONDS = 60.0
_ANSWER_SECONDS = 15.0
"""What a relay may take on top of it."""
_LOOK_SECONDS = 0.05
_END_SECONDS = 10.0
_HOLD = """
import json, os, sys
held = {key: value for key, value in os.environ.items() if key.startswith("CACHEBISECT_")}
held.pop("CACHEBISECT_TOKEN", None)
with open(sys.argv[1] + ".new", "w") as file:
    json.dump(held, file)
os.replace(sys.argv[1] + ".new", sys.argv[1])
sys.stdin.read()
"""
"""The command of the relay: writes what its processes need, and waits for the end of its input."""


class RayJob(NamedTuple):
    """What each worker is told. It travels with the loop."""

    engine: str
    """HOST:PORT; empty: no other node can join."""
    token: str
    """Empty: that of the worker's environment."""
    node: str
    """The machine of the command that measures."""
    key: str
    """Of this job alone."""
    variables: dict[str, str]
    """What a process on that machine needs."""


class Unreached(RuntimeError):
    """A worker has no way to the command that measures. The text says what to do."""


class Relay:
    """The relay of this node. The first worker of the node starts it, all of them use it."""

    def __init__(self, job: RayJob) -> None:
        self._job = job
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._folder = os.path.join(tempfile.gettempdir(), f"cachebisect-ray-{job.key}")

    def variables(self) -> dict[str, str]:
        """What a process of this node needs. Raises Unreached, OSError, EngineError."""
        if not self._job.engine:
            raise Unreached(
                "this worker is on another machine than `cachebisect run`: give it --nodes and "
                "--address, and ray_loop() its engine=HOST:PORT"
            )
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        state = os.lstat(self._folder)
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
            raise Unreached(f"{self._folder} belongs to another user")
        if _local_rank() == 0:
            self._begin()
        return self._await()

    def close(self) -> None:
        """Ends the relay if this worker has begun it. Raises nothing."""
        process, self._process = self._process, None
        if process is None:
            with contextlib.suppress(OSError):  # Nothing is in it if no relay was begun.
                os.rmdir(self._folder)
            return
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _file(self) -> str:
        return os.path.join(self._folder, "environment")

    def _begin(self) -> None:
        token = self._job.token or os.environ.get(_TOKEN, "")
        hook = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_hook")
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._file)
        words = [find_binary(), "join", self._job.engine, "--name", machine_name(), "--hook", hook]
        words += ["--join-timeout", f"{_JOIN_SECONDS:g}", "--"]
        # Its input ends with this worker, however that ends.
        self._process = subprocess.Popen(
            [*words, sys.executable, "-S", "-c", _HOLD, self._file],
            env={**os.environ, _TOKEN: token},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _await(self) -> dict[str, str]:
        deadline = time.monotonic() + _JOIN_SECONDS + _ANSWER_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError), open(self._file) as file:
                return {str(key): str(value) for key, value in json.load(file).items()}
            if self._process is not None and self._process.poll() is not None:
                break
            time.sleep(_LOOK_SECONDS)
        raise Unreached(f"`cachebisect join {self._job.engine}` of this node has not joined")


def variables_of(job: RayJob, relay: Relay) -> dict[str, str]:
    """What this worker needs in its environment. Raises what Relay.variables() raises."""
    if machine_name() == job.node and os.path.exists(job.variables.get(_SOCKET, "")):
        return job.variables
    return relay.variables()


def machine_name() -> str:
    """A name of this machine that a node may have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", platform.node())[:64] or "node"


def _local_rank() -> int:
    context: Any = importlib.import_module("ray.train").get_context()
    return int(context.get_local_rank())
