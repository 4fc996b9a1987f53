"""Processes in which dask computes for all workers of a live arm: `dask_processes=2`."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import subprocess
import sys
import tempfile
from typing import IO, Any

from .._chain.dask_settings import DASK_PROCESSES
from .._chain.settings import value_of

_SECONDS = 60.0
"""Within which a cluster is ready."""

_CODE = """
import json, os, sys
os.setpgid(0, 0)  # Ctrl-C is for the training process, which then ends this one.
from dask.distributed import LocalCluster
with LocalCluster(n_workers={}, dashboard_address=None) as cluster:
    print(json.dumps(cluster.scheduler_address), flush=True)
    sys.stdin.read()  # Its end is that of the process that asked, or of its need.
"""


class DaskClusters:
    """Clusters of this machine, each in a process of its own, so that the training process keeps
    no thread of them. They end with close(), and with this process. Not thread safe."""

    def __init__(self) -> None:
        self._addresses: dict[int, str] = {}
        self._running: list[subprocess.Popen[bytes]] = []

    def address(self, processes: int) -> str:
        """Of the scheduler of a cluster of so many processes; begins it if there is none. Raises
        ValueError if it cannot run."""
        if processes not in self._addresses:
            self._addresses[processes] = self._begin(processes)
        return self._addresses[processes]

    def placed(self, arm: dict[str, Any]) -> dict[str, Any]:
        """The arm with the address in place of the number of processes, if it has one. Raises as
        address() does."""
        overrides = arm.get("overrides") or {}
        processes = value_of(overrides, DASK_PROCESSES, None)
        if processes is None:
            return arm
        address = json.dumps(self.address(int(processes)))
        return {**arm, "overrides": {**overrides, DASK_PROCESSES: address}}

    def close(self) -> None:
        """Ends them. Their clients have ended."""
        for process in self._running:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            process.stdout.close()
            try:
                process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
        self._addresses.clear()

    def _begin(self, processes: int) -> str:
        if importlib.util.find_spec("distributed") is None:
            raise ValueError(
                "dask_processes needs the package distributed: pip install distributed"
            )
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", _CODE.format(processes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
            )
            self._running.append(process)
            line = _first_line(process)
            if not line:
                raise ValueError(f"a cluster of dask does not start: {_last_line(errors)}")
        return str(json.loads(line))


def _environment() -> dict[str, str]:
    """Its processes find the modules of this one, and are not measured."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("CACHEBISECT_")}
    return {**own, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """Empty if the process ends without one, or says nothing in time."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _SECONDS)
    return process.stdout.readline() if ready else b""


def _last_line(errors: IO[Any]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it says nothing in a minute")
