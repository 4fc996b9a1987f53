"""Stands in for Ray: starts workers as Ray Train does, each on a node of a given name.

A worker gets nothing of the environment of the command that measures. It runs the loop in a thread,
in a process whose process group is ready. Run as a program it is a worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Sequence
from typing import Any, Callable

_KEPT = ("CACHEBISECT_TEST_RUN", "CACHEBISECT_BINARY")


class Context:
    """That of ray.train."""

    def get_local_rank(self) -> int:
        return int(os.environ["LOCAL_RANK"])


def install() -> None:
    """Makes `import ray.train` find this."""
    train = types.ModuleType("ray.train")
    train.get_context = Context  # type: ignore[attr-defined]
    sys.modules.update({"ray": types.ModuleType("ray"), "ray.train": train})


class TorchTrainer:
    """`nodes`: the name of each worker's machine; empty: this one. `local_ranks`: on it."""

    def __init__(
        self,
        loop: Callable[[Any], Any],
        nodes: Sequence[str],
        local_ranks: Sequence[int],
        port: int,
    ) -> None:
        self._loop, self._nodes, self._local_ranks, self._port = loop, nodes, local_ranks, port

    def fit(self, seconds: float = 240) -> list[int]:
        """The exit codes of the workers."""
        import cloudpickle

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            with open(path, "wb") as file:
                cloudpickle.dump(self._loop, file)
            workers = [
                subprocess.Popen(
                    [sys.executable, __file__, path, node], env=self._environment(rank)
                )
                for rank, node in enumerate(self._nodes)
            ]
            try:
                return [worker.wait(seconds) for worker in workers]
            finally:
                for worker in workers:
                    worker.kill()

    def _environment(self, rank: int) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if k in _KEPT or "CACHEBISECT" not in k}
        own.pop("PYTHONPATH", None)
        ranks = {
            "RANK": rank,
            "WORLD_SIZE": len(self._nodes),
            "LOCAL_RANK": self._local_ranks[rank],
        }
        return {
            **own,
            **{name: str(value) for name, value in ranks.items()},
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self._port),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }


def work(path: str, node: str) -> int:
    import cloudpickle
    import torch.distributed as dist

    import cachebisect._ray.node as own_node

    install()
    if node:
        own_node.machine_name = lambda: node
    dist.init_process_group("gloo")
    with open(path, "rb") as file:
        loop = cloudpickle.load(file)
    returned: list[Any] = []
    thread = threading.Thread(target=lambda: returned.append(loop({})))
    thread.start()
    thread.join()
    return 0 if returned else 1


if __name__ == "__main__":
    code = work(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # As Ray ends its actors.
