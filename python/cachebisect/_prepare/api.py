"""cachebisect.prepare() and cachebisect.prepared()."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from .._cache.child import in_child
from .._cache.choice import Choice
from .._cache.entry import NotCacheable
from .._cache.sizes import in_words, size_in_bytes
from .contents import INDEX, About, Contents, FolderRefused
from .folder import check_folder, locked
from .measured import free_bytes
from .pieces import SampleFailed
from .plan import Asked, plan
from .summary import Boundary, Prepared
from .writing import Progress, SetWriter

_LEAST_SHARD = 64 << 10


def prepare(
    dataset: Any,
    folder: Union[str, os.PathLike[str]],
    after: Optional[str] = None,
    *,
    shard_size: Union[int, str] = "128MiB",
    workers: int = 0,
    frozen: bool = False,
    version: str = "",
    dry_run: bool = False,
) -> Prepared:
    """Writes what the stages of `dataset` up to `after` make, once per sample, as tar shards.

        print(cachebisect.prepare(ImageFolder(...), "/scratch/prepared", workers=4))
        train = cachebisect.prepared(ImageFolder(...), "/scratch/prepared")

    `folder` then holds shard-00000.tar, shard-00001.tar, ..., which WebDataset reads too,
    positions.bin and index.json. A run that was ended goes on where it was; of a folder that is
    whole, what is damaged is written anew.

    Args:
        dataset: a map-style torch.utils.data.Dataset. It is not changed.
        folder: made if it is missing; empty, or one that this function has written to. Writable by
            you alone.
        after: the last stage whose output is written, as the report names it ("transforms[0]"), or
            "sample" for what the dataset returns; by default the last one behind which every epoch
            gives the same and for which there is room.
        shard_size: most bytes of a shard, unless one sample is larger.
        workers: processes that make samples; one at least.
        frozen: allows stages that draw random numbers before `after`: one output of theirs is
            repeated in every epoch. This changes training.
        version: any text; a folder with another version is refused.
        dry_run: nothing is written but a file without a name, which is gone at the end.

    Returns:
        What was written, and what each stage would take and save, by 64 samples: print() shows it.

    Raises:
        NotCacheable (a ValueError): a sample would not be what the dataset makes. TypeError,
        ValueError: an argument. RuntimeError: a folder that cannot be used, or holds something
        else. OSError: the disk is full; what is whole is kept. What the dataset raises, with the
        number of the sample as its cause.

    Not thread safe; other processes cannot write to the folder meanwhile.
    """
    try:
        return prepare_with(
            dataset, Path(folder), Asked(after, frozen, version), shard_size, workers, dry_run
        )
    except SampleFailed as failed:
        text = f"prepare: sample {failed.index} failed; whole shards before it are kept"
        cause = failed.error.__cause__
        raise failed.error from RuntimeError(text if cause is None else f"{text}; {cause}")


def prepare_with(
    dataset: Any,
    folder: Path,
    asked: Asked,
    shard_size: Union[int, str],
    workers: int,
    dry_run: bool,
    progress: Progress = lambda done, total: None,
) -> Prepared:
    """As prepare(), which is told of progress; SampleFailed in place of the dataset's error while
    samples are written."""
    shard_bytes = check_arguments(dataset, asked, shard_size, workers)
    if dry_run:
        found = check_folder(folder)
        choice, about = in_child(partial(plan, dataset, folder, asked, None))
        return replace(_summary(folder, choice, about, found or Contents(about)), dry_run=True)
    check_folder(folder)
    with locked(folder) as lock:
        found = check_folder(folder)
        if found is not None and found.refused:
            raise NotCacheable(f"{found.refused} (found by an earlier run; remove {folder})")
        before = None if found is None else found.about
        choice, about = in_child(partial(_planned, lock, dataset, folder, asked, before))
        contents = found or Contents(about)
        _check_room(folder, contents)
        writer = SetWriter(folder, contents, shard_bytes, lock)
        written = writer.write(dataset, choice, workers, progress)
        return replace(
            _summary(folder, choice, contents.about, contents),
            shards=len(contents.shards),
            bytes=contents.bytes,
            written=written,
        )


def prepared(dataset: Any, folder: Union[str, os.PathLike[str]]) -> Any:
    """`dataset`, whose first stages are not run any more: what they made is read from `folder`, to
    which prepare() has written it. The stages behind them run for every sample.

        train = cachebisect.prepared(ImageFolder(...), "/scratch/prepared")

    Args:
        dataset: as it was given to prepare(); stages behind the prepared ones may be others.

    Returns:
        A dataset with the same samples, length and attributes, for every start method of workers.
        What is damaged is made by the dataset, with one warning. `hits` and `misses` count the
        samples of this process.

    Raises:
        RuntimeError: the folder cannot be used, is not whole, or is of something else, which is
        named. NotCacheable (a ValueError): 8 samples are made anew, in a process of their own, and
        one of them is not what was written. What the dataset raises.

    Thread safe.
    """
    _check_dataset(dataset, "prepared")
    from .dataset import PreparedDataset
    from .opened import open_set

    place = Path(folder).absolute()
    contents = check_folder(place)
    if contents is None:
        raise FolderRefused(f"{place} holds nothing: cachebisect.prepare(dataset, folder) fills it")
    if not contents.whole and not (place / INDEX).exists():
        done = sum(shard.samples for shard in contents.shards.values())
        raise FolderRefused(
            f"{place} is not whole: {done:,} of {contents.about.samples:,} samples are written. "
            "cachebisect.prepare(dataset, folder) goes on"
        )
    opened = in_child(partial(open_set, dataset, place, contents))
    return PreparedDataset(dataset, place, contents, opened)


def _planned(
    lock: int, dataset: Any, folder: Path, asked: Asked, before: Optional[About]
) -> tuple[Choice, About]:
    """plan() in a child process, which must not keep the folder locked."""
    os.close(lock)
    return plan(dataset, folder, asked, before)


def check_arguments(dataset: Any, asked: Asked, shard_size: Any, workers: Any) -> int:
    """The bytes of a shard. Raises TypeError, ValueError."""
    _check_dataset(dataset, "prepare")
    if asked.after is not None and not isinstance(asked.after, str):
        raise TypeError(f"prepare: after={asked.after!r} is no name of a stage")
    if asked.frozen and asked.after is None:
        raise ValueError("prepare: frozen=True needs after=: it says what is repeated")
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise ValueError(f"prepare: workers={workers!r} is no number of processes")
    if not isinstance(asked.version, str):
        raise TypeError(f"prepare: version={asked.version!r} is no text")
    return size_in_bytes("shard_size", shard_size, _LEAST_SHARD)


def _check_dataset(dataset: Any, what: str) -> None:
    import torch.utils.data

    iterable = isinstance(dataset, torch.utils.data.IterableDataset)
    if iterable or not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise TypeError(
            f"{what}: {type(dataset).__name__} has no samples by index; only datasets with "
            "__getitem__ and __len__ can be prepared"
        )
    if getattr(type(dataset), "keeps_samples", False) is True:
        raise ValueError(f"{what}: this dataset keeps its samples already: give its `.dataset`")


def _check_room(folder: Path, contents: Contents) -> None:
    """Raises OSError if what is missing does not fit, by what samples took that were measured."""
    row = _summary_row(contents.about)
    if row is None or contents.whole:
        return
    done = sum(shard.samples for shard in contents.shards.values())
    needed = row.bytes_per_sample * (contents.about.samples - done)
    free = free_bytes(folder)
    if needed > free:
        raise OSError(
            errno.ENOSPC,
            f"prepare: {in_words(needed)} are to be written after {contents.about.after}, and "
            f"{in_words(free)} are free in {folder}",
        )


def _summary_row(about: About) -> Optional[Boundary]:
    rows = [Boundary(**row) for row in about.table.get("boundaries", ())]
    return next((row for row in rows if row.after == about.after), None)


def _summary(folder: Path, choice: Choice, about: About, contents: Contents) -> Prepared:
    table = about.table
    return Prepared(
        folder=str(folder),
        after=choice.after,
        samples=about.samples,
        boundaries=tuple(Boundary(**row) for row in table.get("boundaries", ())),
        live_samples_per_second=float(table.get("live_samples_per_second", 0)),
        free_bytes=float(table.get("free_bytes", 0)),
        later=tuple(choice.later),
    )
