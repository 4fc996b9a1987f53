"""What is free of the resources that a loader needs. Thread safe: no state."""

from __future__ import annotations

import os
from typing import Optional

SHARED_MEMORY = "/dev/shm"


def free_memory() -> Optional[float]:
    """Free bytes of the machine, or of the container if that has less; None if not known."""
    found = [_available(), _left_in_group()]
    known = [value for value in found if value is not None]
    return min(known) if known else None


def _available() -> Optional[float]:
    try:
        with open("/proc/meminfo") as file:
            values = dict(line.split(":", 1) for line in file)
        return 1024.0 * int(values["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return None


def _left_in_group() -> Optional[float]:
    """Bytes that are left in a control group, version 2; None without a limit."""
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            most = float(limit.read())
        with open("/sys/fs/cgroup/memory.current") as current:
            return most - float(current.read())
    except (OSError, ValueError):
        return None


def free_shared_memory() -> Optional[float]:
    """Free bytes of /dev/shm; None if there is none."""
    try:
        status = os.statvfs(SHARED_MEMORY)
    except OSError:
        return None
    return float(status.f_bavail * status.f_frsize)
