"""The folder of a prepared set while it is written. Not thread safe."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Optional

from .._cache.disk_folder import others_can_write
from .contents import INDEX, JOURNAL, Contents, FolderRefused, read_contents

PART = ".part"
"""Ends the names of files that are not whole."""


def check_folder(folder: Path) -> Optional[Contents]:
    """What `folder` holds; None if it is empty, or not there.

    Raises FolderRefused for one that holds something else, or that others can write to.
    """
    try:
        status = folder.stat()
        names = os.listdir(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderRefused(f"the folder {folder} cannot be used: {error}") from error
    if others_can_write(status):
        raise FolderRefused(
            f"others can write to {folder}, and what is prepared is run when it is read: "
            f"chmod go-w {folder}, or take a folder of your own"
        )
    found = read_contents(folder)
    if found is None and set(names) - {JOURNAL + PART}:
        raise FolderRefused(
            f"{folder} holds something else ({', '.join(sorted(names)[:3])}): nothing is written "
            "to it. Take an empty folder"
        )
    return found


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Makes the folder if it is missing; other processes cannot write to it meanwhile.

    Gives a descriptor, which children of fork are to close: else it stays locked until they end.
    Raises FolderRefused.
    """
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise FolderRefused(f"the folder {folder} cannot be used: {error}") from error
    try:
        _lock(descriptor, folder)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise FolderRefused(f"another process is writing to {folder}") from error
        # A file system without locks.


def write_whole(path: Path, text: str) -> None:
    """The whole file or none. Raises OSError."""
    part = path.with_name(path.name + PART)
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """What was renamed in `folder` stays so after the end of the machine's power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:  # Some file systems have none for folders.
        pass
    finally:
        os.close(descriptor)


def finish(folder: Path, contents: Contents) -> None:
    """The set is whole."""
    write_whole(folder / INDEX, contents.index())
    (folder / JOURNAL).unlink(missing_ok=True)
    sync_folder(folder)


def begin_journal(folder: Path, contents: Contents) -> None:
    """Writes down what is there, unless a journal does so already."""
    path = folder / JOURNAL
    if not path.exists():
        write_whole(path, "".join(contents.lines()))
        return
    end = path.read_bytes().rfind(b"\n") + 1
    with open(path, "r+b") as file:
        file.truncate(end)  # A line that was not written to its end.


def append_to_journal(folder: Path, line: str) -> None:
    with open(folder / JOURNAL, "a", encoding="utf-8") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
