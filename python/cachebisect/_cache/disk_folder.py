"""The folder of a cache on disk. Thread safe: no state."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Union

from .sizes import size_in_bytes
from .store import MIN_LIMIT

_NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "ceph", "9p", "beegfs", "fuse.", "afs")


def own_folder(path: Path) -> Path:
    """`path`, made if it is missing. Raises RuntimeError if a cache may not lie there."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise RuntimeError(f"cached: the folder {path} cannot be used: {error}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise RuntimeError(f"cached: {path} is no folder")
    if status.st_uid != os.getuid() or others_can_write(status):
        raise RuntimeError(
            f"cached: others can write to {path}, and what is cached is run when it is read: "
            f"chmod 700 {path}, or take a folder of your own"
        )
    kind = _kind_of_disk(path)
    if kind.startswith(_NETWORK):
        raise RuntimeError(
            f"cached: {path} lies on {kind}; processes of several machines cannot share a cache: "
            "take a local disk"
        )
    return path


def others_can_write(status: os.stat_result) -> bool:
    """True if somebody else than this user and root can write to what `status` is of."""
    return status.st_uid not in (os.getuid(), 0) or bool(status.st_mode & 0o022)


def _kind_of_disk(path: Path) -> str:
    """The type of the file system of `path`, as the kernel names it; empty if not known."""
    best, kind = "", ""
    try:
        place = os.path.realpath(path)
        with open("/proc/self/mounts") as file:
            for line in file:
                _, mount, name, *_ = line.split()
                root = mount.rstrip("/") + "/"
                if (place + "/").startswith(root) and len(root) >= len(best):
                    best, kind = root, name
    except (OSError, ValueError):
        pass
    return kind


def bytes_of(folder: Path, limit: Union[int, str, None]) -> int:
    """What the cache in `folder` may take: `limit`, else half of what is free besides what it has.

    Raises TypeError, ValueError.
    """
    used = _used(folder)
    if limit is None:
        return max(MIN_LIMIT, used + (free_in(folder) - used) // 2)
    size = size_in_bytes("disk_limit", limit, MIN_LIMIT)
    if used > size:
        raise ValueError(f"disk_limit={limit!r}: {folder} holds {used} bytes; remove it")
    return size


def free_in(folder: Path) -> int:
    """Bytes that the cache in `folder` may have: what is free, and what it has."""
    status = os.statvfs(folder)
    return _used(folder) + status.f_bavail * status.f_frsize


def _used(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("cache.sqlite*"))
