"""Network namespaces as the machines of a job: each has an address, and a link that can be limited.

Needs root and Debian's iproute2.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from typing import Optional

BRIDGE = "cachebisect0"
NETWORK = "10.77.0"
SERVER = f"{NETWORK}.254"
"""Address of the machine itself, which all namespaces reach."""


def missing() -> Optional[str]:
    """Why namespaces cannot be made here; None if they can."""
    if os.geteuid() != 0:
        return "root is needed to make network namespaces"
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            return f"{tool} is missing: install iproute2"
    return None


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


class Hosts(contextlib.AbstractContextManager):
    """`count` namespaces, removed at the end."""

    def __init__(self, count: int) -> None:
        self.count = count

    def name(self, host: int) -> str:
        return f"host-{host + 1}"

    def address(self, host: int) -> str:
        return f"{NETWORK}.{host + 1}"

    def words(self, host: int) -> list[str]:
        """What stands before a command that runs there."""
        return ["ip", "netns", "exec", self._space(host)]

    def __enter__(self) -> Hosts:
        self._remove()
        _do("ip", "link", "add", BRIDGE, "type", "bridge")
        _do("ip", "address", "add", f"{SERVER}/24", "dev", BRIDGE)
        _do("ip", "link", "set", BRIDGE, "up")
        for host in range(self.count):
            self._add(host)
        return self

    def __exit__(self, *_error: object) -> None:
        self._remove()

    def limit(self, host: int, megabits: float) -> None:
        """What it receives in a second."""
        rate = f"{megabits:g}mbit"
        where = ["dev", self._link(host), "root", "tbf", "rate", rate]
        _do("tc", "qdisc", "add", *where, "burst", "32kbit", "latency", "400ms")

    def cut(self, host: int) -> None:
        """Nothing reaches it any more, and it reaches nothing."""
        _do("ip", "link", "set", self._link(host), "down")

    def _space(self, host: int) -> str:
        return f"cachebisect{host}"

    def _link(self, host: int) -> str:
        return f"cachebisect-v{host}"

    def _add(self, host: int) -> None:
        space, link = self._space(host), self._link(host)
        _do("ip", "netns", "add", space)
        _do("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _do("ip", "link", "set", link, "master", BRIDGE, "up")
        _do("ip", "-n", space, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _do("ip", "-n", space, "link", "set", device, "up")

    def _kill(self, host: int) -> None:
        """What runs there keeps the namespace."""
        found = subprocess.run(
            ["ip", "netns", "pids", self._space(host)], capture_output=True, text=True
        )
        for process in found.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)

    def _remove(self) -> None:
        for host in range(self.count):
            self._kill(host)
            subprocess.run(["ip", "link", "delete", self._link(host)], capture_output=True)
            subprocess.run(["ip", "netns", "delete", self._space(host)], capture_output=True)
        subprocess.run(["ip", "link", "delete", BRIDGE], capture_output=True)
