"""Files that measured steps would have written, in a temporary folder.

Scripts load what they have saved: the best checkpoint for a last test, the weights of the last
phase. Those files are found there, also after measuring. Thread safe as far as dictionaries are.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from contextlib import suppress
from os import rmdir, unlink  # While steps are measured, those of the module do nothing.
from typing import Optional


class DivertedFiles:
    """By the path that the script gave. They are removed when the process ends."""

    def __init__(self) -> None:
        self._folder: Optional[str] = None
        self._places: dict[str, str] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._places)

    def place(self, path: str) -> str:
        """Where `path` is written instead. One file for each path: repeated saving takes no more
        room than in the script."""
        key = os.path.abspath(path)
        if key not in self._places:
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix="cachebisect-checkpoints-")
                atexit.register(_remove_folder, self._folder, os.getpid())
            self._made += 1
            self._places[key] = os.path.join(self._folder, f"{self._made}-{os.path.basename(key)}")
        return self._places[key]

    def find(self, path: str) -> Optional[str]:
        """The file that was written instead of `path`; None if there is none."""
        place = self._places.get(os.path.abspath(path)) if path else None
        return place if place is not None and os.path.exists(place) else None

    def move(self, source: str, target: str) -> None:
        """The file of `source` is that of `target`, too."""
        place = self.find(source)
        if place is not None:
            self._places[os.path.abspath(target)] = place

    def remove(self, path: str) -> None:
        """There is none for `path` any more."""
        place = self._places.pop(os.path.abspath(path), None)
        if place is not None and place not in self._places.values():
            with suppress(OSError):  # It was never written.
                unlink(place)


def _remove_folder(folder: str, pid: int) -> None:
    if os.getpid() != pid:
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            unlink(os.path.join(folder, name))
        rmdir(folder)
