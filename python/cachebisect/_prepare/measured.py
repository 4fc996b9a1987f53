"""What a set behind each stage would take and save, by a few samples. Not thread safe."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from .._cache.choice import stage_name
from .._cache.entry import Entry, NotCacheable, call_now, cut_after
from .._cache.examined import Examined
from .._worker.tape import Tape
from .archive import END
from .pieces import SampleFailed, piece_of, read_entry
from .positions import ROW
from .reader import read_at
from .recipe import Recipe, from_bytes
from .summary import Boundary

SAMPLES = 64
_LEAST = 4
"""Samples, however long they take."""
_SECONDS = 15.0
"""For making them the first time, and for each way of reading them."""
_BYTES = 256 << 20
_ROUNDS = 3
"""The least of so many is taken: another process may have taken the core."""


@dataclass
class _Place:
    number: int
    offset: int
    size: int
    crc: int
    recipe: bytes


@dataclass
class _Written:
    """The samples of one boundary in the temporary file."""

    stages: int
    places: list[_Place] = field(default_factory=list)
    recipes: dict[bytes, Recipe] = field(default_factory=dict)

    @property
    def bytes_per_sample(self) -> float:
        return sum(place.size for place in self.places) / max(1, len(self.places)) + ROW


class Measured:
    """Writes samples of `dataset` to a file in `folder` that has no name, and reads them back."""

    def __init__(self, dataset: Any, shared: list[Any], examined: Examined, folder: Path) -> None:
        self._dataset = dataset
        self._shared = shared
        self._examined = examined
        self._folder = existing(folder)

    def boundaries(self, tried: list[int]) -> tuple[list[Boundary], float]:
        """Those after the numbers of stages in `tried`, and how many samples/s the dataset makes.

        Draws random numbers. Raises what the dataset raises, OSError.
        """
        count = len(self._dataset)
        free = float(free_bytes(self._folder))
        with tempfile.TemporaryFile(dir=self._folder, buffering=0) as file:
            written, made = self._write(file, [_Written(stages) for stages in tried], count)
            live, live_cpu = _least_times(made, self._dataset.__getitem__)
            rows = []
            for each in written:
                total = each.bytes_per_sample * count + len(END)
                read, _ = self._read_times(file.fileno(), each, runs_later=False)
                both, cpu = self._read_times(file.fileno(), each, runs_later=True)
                rows.append(
                    Boundary(
                        after=stage_name(self._examined.names, each.stages),
                        bytes_per_sample=each.bytes_per_sample,
                        bytes=total,
                        cpu_seconds_saved=live_cpu - cpu,
                        samples_per_second=1 / read,
                        with_later_stages=1 / both,
                        fits=total <= free,
                    )
                )
        return rows, 1 / live

    def _write(
        self, file: Any, written: list[_Written], count: int
    ) -> tuple[list[_Written], list[int]]:
        made: list[int] = []
        offset, end = 0, time.monotonic() + _SECONDS
        for number in spread(count, SAMPLES):
            tape = self._tape(number)
            for each in list(written):
                try:
                    entry = cut_after(tape, each.stages, self._examined.names)
                    place, data = self._piece(number, entry, offset, each)
                except NotCacheable:
                    written.remove(each)
                    continue
                each.places.append(place)
                _write_all(file, data)
                offset += len(data)
            made.append(number)
            if len(made) >= _LEAST and (time.monotonic() > end or offset > _BYTES):
                break
        os.fsync(file.fileno())
        return written, made

    def _tape(self, number: int) -> Tape:
        try:
            return self._examined.tape(number)
        except Exception as error:
            raise SampleFailed(number, error) from error

    def _piece(
        self, number: int, entry: Entry, offset: int, into: _Written
    ) -> tuple[_Place, bytes]:
        piece = piece_of(number, entry, stage_name(self._examined.names, into.stages), self._shared)
        if piece.recipe not in into.recipes:
            into.recipes[piece.recipe] = from_bytes(piece.recipe, self._shared)
        crc = zlib.crc32(piece.data)
        return _Place(number, offset, len(piece.data), crc, piece.recipe), piece.data

    def _read_times(self, file: int, written: _Written, runs_later: bool) -> tuple[float, float]:
        """Seconds per sample, and of CPU."""

        def read(place: _Place) -> None:
            data = read_at(file, place.offset, place.size)
            zlib.crc32(data)
            entry = read_entry(place.number, written.recipes[place.recipe], memoryview(data))
            if runs_later:
                entry.sample(self._examined.slots, call_now)

        forget = lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        return _least_times(written.places, read, forget)


def _least_times(
    items: list[Any], act: Callable[[Any], Any], before: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Seconds per item, and of CPU."""
    seconds, cpu = [], []
    for _ in range(_ROUNDS):
        before()
        began, began_cpu = time.perf_counter(), time.thread_time()
        for item in items:
            act(item)
        cpu.append(time.thread_time() - began_cpu)
        seconds.append(time.perf_counter() - began)
        if sum(seconds) > _SECONDS:
            break
    return max(min(seconds), 1e-9) / len(items), min(cpu) / len(items)


def spread(count: int, most: int) -> list[int]:
    """Numbers of at most so many samples, over the whole dataset."""
    return sorted({round(i * (count - 1) / max(1, most - 1)) for i in range(most)})


def existing(folder: Path) -> Path:
    """`folder`, or the nearest one above it that exists."""
    return next((each for each in (folder, *folder.resolve().parents) if each.is_dir()), folder)


def free_bytes(folder: Path) -> int:
    """Of the disk on which `folder` lies, or will lie."""
    return shutil.disk_usage(existing(folder)).free


def _write_all(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
