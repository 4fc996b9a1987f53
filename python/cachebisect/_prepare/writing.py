"""Writes the shards of a set, and goes on with those of a run that was ended. Not thread safe."""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from .._cache.choice import Choice
from .._cache.entry import NotCacheable
from .._cache.sizes import in_words
from .archive import key_of, record
from .contents import (
    Contents,
    FolderRefused,
    Shard,
    encoded_recipes,
    shard_line,
    shard_name,
)
from .folder import PART, append_to_journal, begin_journal, finish, sync_folder
from .makers import Makers
from .pieces import Piece, Pieces
from .positions import FILE as POSITIONS
from .positions import OWN_RECIPE, ROW, Position, position, row
from .shard_file import ShardFile, sha256_of

Progress = Callable[[int, int], None]
"""Called with the samples that are written and those that there are."""

RECIPE = "recipe.bin"
"""The member that holds the recipe of a sample that has one of its own."""
_MOST_RECIPES = 64
_LARGEST_RECIPE = 64 << 10
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Job:
    """Samples that are still to be written: one shard that was known, or all that are left."""

    number: int
    samples: range
    is_known: bool


class SetWriter:
    """`contents`: what `folder` holds by now. `lock`: the descriptor of locked()."""

    def __init__(self, folder: Path, contents: Contents, shard_bytes: int, lock: int) -> None:
        self._lock = lock
        self._folder = folder
        self._contents = contents
        self._shard_bytes = shard_bytes
        self._recipe_numbers = {data: number for number, data in contents.recipes.items()}
        self._new_recipes: dict[int, bytes] = {}
        self._done = 0

    def write(self, dataset: Any, choice: Choice, workers: int, progress: Progress) -> int:
        """Returns how many samples were written; 0: all were there.

        Raises SampleFailed, NotCacheable, FolderRefused; OSError where the disk is full.
        """
        jobs = self._jobs()
        missing = sum(len(job.samples) for job in jobs)
        if missing == 0:
            if not self._contents.whole:
                finish(self._folder, self._contents)
            return 0
        if choice.names != self._contents.about.names:
            raise FolderRefused(
                f"{self._folder} is not whole, and was begun with other stages behind "
                f"{choice.after}: end it with those, or remove it"
            )
        self._done = self._contents.about.samples - missing
        begin_journal(self._folder, self._contents)
        wanted = [job.samples for job in jobs]
        pieces = Pieces(dataset, choice, self._contents.about.frozen)
        makers = Makers(pieces, wanted, max(1, workers), self._lock)
        try:
            self._write_jobs(jobs, iter(makers), progress)
            finish(self._folder, self._contents)
        except NotCacheable as error:
            append_to_journal(self._folder, json.dumps({"refused": str(error)}) + "\n")
            raise
        except OSError as error:
            raise self._in_words(error) from error
        finally:
            makers.close()
        return missing

    # What is there

    def _jobs(self) -> list[Job]:
        """In the order of samples. Shards behind one that is not known are written anew."""
        self._refuse_others()
        known, self._contents.shards = self._contents.shards, {}
        jobs: list[Job] = []
        end = 0
        for number in range(len(known)):
            shard = known.get(number)
            if shard is None or shard.first != end or shard.samples < 1:
                break
            self._contents.shards[number] = shard
            samples = range(end, end + shard.samples)
            end = samples.stop
            if not self._is_whole(shard):
                jobs.append(Job(number, samples, True))
        rest = range(end, self._contents.about.samples)
        return [*jobs, Job(len(self._contents.shards), rest, False)] if len(rest) > 0 else jobs

    def _refuse_others(self) -> None:
        last = max(self._contents.shards, default=-1)
        ours = {shard_name(number) for number in range(last + 1)}
        others = {path.name for path in self._folder.glob("shard-*.tar")} - ours
        if others:
            raise FolderRefused(
                f"{self._folder / min(others)} is not one of the shards that were written there: "
                "remove it, or take an empty folder"
            )

    def _is_whole(self, shard: Shard) -> bool:
        path = self._folder / shard.name
        part = path.with_name(path.name + PART)
        for place in (path, part):
            try:
                if place.stat().st_size == shard.bytes and sha256_of(place) == shard.sha256:
                    os.replace(place, path)  # A part: the run was ended before it had its name.
                    return self._has_positions(shard)
            except OSError:
                continue
        return False

    def _has_positions(self, shard: Shard) -> bool:
        try:
            with open(self._folder / POSITIONS, "rb") as file:
                file.seek(ROW * shard.first)
                rows = file.read(ROW * shard.samples)
        except OSError:
            return False
        for place in range(shard.samples):
            found = position(shard.first + place, rows[ROW * place : ROW * (place + 1)])
            if found is None or found.shard != shard.number:
                return False
            if found.recipe != OWN_RECIPE and found.recipe not in self._contents.recipes:
                return False
        return True

    # Writing

    def _write_jobs(self, jobs: list[Job], pieces: Iterator[Piece], progress: Progress) -> None:
        for job in jobs:
            number, samples = job.number, job.samples
            kept: Optional[Piece] = None
            while len(samples) > 0:
                count, kept = self._write_shard(number, job, samples, pieces, kept, progress)
                samples, number = samples[count:], number + 1

    def _write_shard(
        self,
        number: int,
        job: Job,
        samples: range,
        pieces: Iterator[Piece],
        piece: Optional[Piece],
        progress: Progress,
    ) -> tuple[int, Optional[Piece]]:
        """Returns how many of `samples` it holds, and the piece that had no room."""
        file = ShardFile(self._folder / shard_name(number))
        try:
            rows: list[bytes] = []
            for index in samples:
                piece = piece or next(pieces)
                recipe, data = self._with_recipe(piece)
                if rows and not job.is_known and file.bytes + len(data) > self._shard_bytes:
                    break
                offset = file.add(data)
                place = Position(number, offset, len(data), zlib.crc32(data), recipe)
                rows.append(row(index, place))
                piece = None
                self._done += 1
                progress(self._done, self._contents.about.samples)
            digest = file.close()
            shard = Shard(number, samples.start, len(rows), file.bytes, digest)
            self._write_positions(shard, rows)
            self._note(shard)
            file.publish()
            sync_folder(self._folder)
        finally:
            file.discard()
        return len(rows), piece

    def _with_recipe(self, piece: Piece) -> tuple[int, bytes]:
        """The number of its recipe, and what is written of it."""
        number = self._recipe_numbers.get(piece.recipe)
        if number is not None:
            return number, piece.data
        number = max(self._recipe_numbers.values(), default=-1) + 1
        if number >= _MOST_RECIPES or len(piece.recipe) > _LARGEST_RECIPE:
            own = record(key_of(piece.number), [(RECIPE, piece.recipe)])
            return OWN_RECIPE, own + piece.data
        self._recipe_numbers[piece.recipe] = number
        self._new_recipes[number] = piece.recipe
        return number, piece.data

    def _write_positions(self, shard: Shard, rows: list[bytes]) -> None:
        descriptor = os.open(self._folder / POSITIONS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        with open(descriptor, "r+b") as file:
            file.seek(ROW * shard.first)
            file.write(b"".join(rows))
            file.flush()
            os.fsync(file.fileno())

    def _note(self, shard: Shard) -> None:
        new, self._new_recipes = self._new_recipes, {}
        line = {**shard_line(shard), "recipes": encoded_recipes(new)}
        append_to_journal(self._folder, json.dumps(line) + "\n")
        self._contents.recipes.update(new)
        self._contents.shards[shard.number] = shard

    def _in_words(self, error: OSError) -> OSError:
        if error.errno not in _NO_ROOM:
            return error
        kept = sum(shard.samples for shard in self._contents.shards.values())
        total = self._contents.about.samples
        return OSError(
            error.errno,
            f"prepare: there is no room in {self._folder} ({error.strerror}): whole shards with "
            f"{kept:,} of {total:,} samples ({in_words(self._contents.bytes)}) are kept. Run it "
            "again when there is room",
        )
