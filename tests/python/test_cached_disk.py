"""Caches on disk: used by later runs, refused for other contents, never a wrong sample."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from cachebisect import NotCacheable
from cachebisect._cache import disk_folder
from cached_data import Jitter, Numbers, Scale, same

FORK = multiprocessing.get_context("fork")
"""Other processes need not import torch, which takes seconds."""


def cached(dataset: Any, folder: Path, **options: Any) -> Any:
    return cachebisect.cached(dataset, disk=folder, disk_limit="64MiB", **options)


def epoch(dataset: Any) -> list[Any]:
    return [dataset[index] for index in range(len(dataset))]


def filled(folder: Path, **shape: int) -> Any:
    """A dataset and what it makes; the cache in `folder` holds all of it."""
    dataset = Numbers(Scale(), **shape)
    kept = cached(dataset, folder)
    wanted = epoch(kept)
    kept.close()
    return dataset, wanted


def bytes_in(folder: Path) -> int:
    sizes = []
    for file in folder.iterdir():
        try:
            sizes.append(file.stat().st_size)
        except FileNotFoundError:  # The last process to close it removes the log.
            continue
    return sum(sizes)


def test_what_is_read_is_kept_in_front_of_stages_that_draw(tmp_path: Path) -> None:
    dataset = Numbers(Jitter(), Scale())
    kept = cached(dataset, tmp_path / "cache", after="read")
    assert kept.after == "read" and "after read" in repr(kept)
    epoch(kept)
    kept.close()
    again = cached(dataset, tmp_path / "cache", after="read")
    first, second = epoch(again), epoch(again)
    assert (again.hits, again.misses) == (80, 0)
    assert all(index <= x[0] / 3 < index + 1 for index, (x, _) in enumerate(first))
    assert not any(same(one, other) for one, other in zip(first, second))  # Drawn anew.


def test_a_later_run_makes_nothing_anew(tmp_path: Path) -> None:
    dataset, wanted = filled(tmp_path / "a" / "cache")
    kept = cached(dataset, tmp_path / "a" / "cache")
    assert all(same(one, other) for one, other in zip(epoch(kept), wanted))
    assert (kept.hits, kept.misses) == (40, 0)
    assert (tmp_path / "a" / "cache").stat().st_mode & 0o777 == 0o700


def test_memory_stands_before_the_disk(tmp_path: Path) -> None:
    dataset, wanted = filled(tmp_path / "cache")
    kept = cached(dataset, tmp_path / "cache", memory="16MiB")
    epoch(kept)
    (tmp_path / "cache" / "cache.sqlite").write_bytes(b"")
    assert all(same(one, other) for one, other in zip(epoch(kept), wanted))
    assert (kept.hits, kept.misses) == (80, 0)


@pytest.mark.parametrize(
    ("other", "options", "words"),
    [
        (Numbers(Scale(4)), {}, "other stages (transforms[0] Scale)"),
        (Numbers(Scale(), Scale()), {}, "other stages (transforms[1] Scale)"),
        (Numbers(Scale(), count=41), {}, "another dataset"),
        (Numbers(Scale(), width=5), {}, "another dataset"),
        (Numbers(Scale()), {"version": "2"}, "another version"),
    ],
)
def test_another_content_is_refused(
    tmp_path: Path, other: Any, options: dict[str, str], words: str
) -> None:
    filled(tmp_path)
    with pytest.raises(RuntimeError) as raised:
        cached(other, tmp_path, **options)
    assert words in str(raised.value)
    assert "remove its folder" in str(raised.value)


def test_later_stages_may_change(tmp_path: Path) -> None:
    kept = cached(Numbers(Scale(), Jitter()), tmp_path, after="transforms[0]")
    epoch(kept)
    kept.close()
    kept = cached(Numbers(Scale(), Jitter(), Jitter()), tmp_path, after="transforms[0]")
    epoch(kept)
    assert kept.misses == 40  # The calls that follow are cached with the sample.
    kept = cached(Numbers(Scale(), Jitter(), Jitter()), tmp_path, after="transforms[0]")
    assert all(3 * i <= x[0] < 3 * i + 2 for i, (x, _) in enumerate(epoch(kept)))


class Files(Numbers):
    """Reads a file that may change."""

    path = Path()

    def __getitem__(self, index: int) -> Any:
        return torch.tensor([float(self.path.read_text()), index]), index


def test_files_that_have_changed_are_seen(tmp_path: Path) -> None:
    Files.path = tmp_path / "number"
    Files.path.write_text("1")
    kept = cached(Files(), tmp_path / "cache")
    epoch(kept)
    kept.close()
    Files.path.write_text("2")
    with pytest.raises(NotCacheable, match="the data has changed"):
        cached(Files(), tmp_path / "cache")


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damage_never_makes_a_wrong_sample(tmp_path: Path, damage: str) -> None:
    dataset, wanted = filled(tmp_path, count=30, width=2000)
    file = tmp_path / "cache.sqlite"
    good = file.read_bytes()
    used = 0
    for part in range(40):
        place = len(good) * part // 40 + part
        bad = good[:place] if damage == "cut" else bytearray(good)
        if isinstance(bad, bytearray):
            for byte in range(place, min(place + 64, len(bad))):
                bad[byte] ^= 0x5A
        for log in tmp_path.glob("cache.sqlite-*"):
            log.unlink()
        file.write_bytes(bad)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kept = cached(dataset, tmp_path)
            except RuntimeError as error:
                assert str(tmp_path) in str(error)
                continue
            got = epoch(kept)
            used += kept.hits > 0
            kept.close()
        assert all(same(one, other) for one, other in zip(got, wanted)), place
    assert used > 0 or damage == "cut"


def fill(folder: Path, told: Any) -> None:
    """Sends the index of each sample that is made."""
    kept = cached(Numbers(Scale(), count=400, width=20000), folder)
    for index in range(400):
        assert kept[index]
        told.send(index)


def test_a_killed_run_leaves_what_was_there(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), count=400, width=20000)
    wanted = epoch(dataset)
    for samples in (5, 40, 120):
        heard, told = FORK.Pipe(duplex=False)
        run = FORK.Process(target=fill, args=(tmp_path, told))
        run.start()
        told.close()
        for _ in range(samples):
            heard.recv()
        run.kill()
        run.join()
        assert run.exitcode == -signal.SIGKILL
        kept = cached(dataset, tmp_path)
        assert same(kept[samples - 2], wanted[samples - 2])
        assert kept.hits == 1
        kept.close()
    kept = cached(dataset, tmp_path)
    assert all(same(one, other) for one, other in zip(epoch(kept), wanted))


def fill_with_a_limit(folder: Path, told: Any) -> None:
    """Sends the warnings."""
    dataset = Numbers(Scale(), count=200, width=20000)
    kept = cached(dataset, folder)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert all(same(kept[i], dataset[i]) for i in range(200))
    told.send([str(each.message) for each in caught])


def test_a_file_that_cannot_grow_loses_no_sample(tmp_path: Path) -> None:
    heard, told = FORK.Pipe(duplex=False)
    run = FORK.Process(target=fill_with_a_limit, args=(tmp_path, told))
    run.start()
    run.join()
    assert run.exitcode == 0 and heard.poll()
    assert any(str(tmp_path) in text for text in heard.recv())


def test_the_limit_holds_and_the_first_samples_stay(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), count=120, width=100_000)
    kept = cachebisect.cached(dataset, disk=tmp_path, disk_limit="16MiB")
    for _ in range(2):
        epoch(kept)
    assert 20 < kept.hits < 60
    assert bytes_in(tmp_path) <= 1.01 * (16 << 20)
    kept.close()
    with pytest.raises(ValueError, match="at most 1.05 MB can be stored"):
        cachebisect.cached(Numbers(width=500_000), memory="16MiB")
    with pytest.raises(ValueError, match="at least"):
        cachebisect.cached(dataset, disk=tmp_path, disk_limit="8MiB")


def test_folders_that_are_not_safe_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(RuntimeError, match="chmod 700"):
        cached(Numbers(Scale()), shared)
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="cannot be used"):
        cached(Numbers(Scale()), tmp_path / "file")
    monkeypatch.setattr(disk_folder, "_kind_of_disk", lambda _path: "nfs4")
    with pytest.raises(RuntimeError, match="lies on nfs4"):
        cached(Numbers(Scale()), tmp_path / "own")


def test_the_kind_of_disk_is_known() -> None:
    assert disk_folder._kind_of_disk(Path("/proc/self")) == "proc"
    assert disk_folder._kind_of_disk(Path(os.devnull).parent / "shm") == "tmpfs"


def test_a_cache_that_is_removed_while_it_is_used_loses_no_sample(tmp_path: Path) -> None:
    dataset, wanted = filled(tmp_path)
    kept = cached(dataset, tmp_path)
    epoch(kept)
    kept._tiers.close()
    for file in tmp_path.glob("*"):
        file.unlink()
    tmp_path.joinpath("cache.sqlite").write_bytes(b"no database at all" * 1000)
    with pytest.warns(UserWarning, match="made anew from here on"):
        got = epoch(kept)
    assert all(same(one, other) for one, other in zip(got, wanted))


def test_three_processes_fill_one_cache(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), count=400, width=20000)
    pipes = [FORK.Pipe(duplex=False) for _ in range(3)]  # They have room for all that is told.
    runs = [FORK.Process(target=fill, args=(tmp_path, told)) for _, told in pipes]
    for run in runs:
        run.start()
    while any(run.is_alive() for run in runs):
        assert bytes_in(tmp_path) <= 1.01 * (64 << 20)
    assert [run.exitcode for run in runs] == [0, 0, 0]
    kept = cached(dataset, tmp_path)
    assert all(same(one, other) for one, other in zip(epoch(kept), epoch(dataset)))
    assert kept.hits > 0


def test_samples_that_are_locked_are_made_anew(tmp_path: Path) -> None:
    import sqlite3

    dataset = Numbers(Scale())
    kept = cached(dataset, tmp_path)
    other = sqlite3.connect(tmp_path / "cache.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert same(kept[3], dataset[3])
    assert same(kept[3], dataset[3])
    assert kept.misses == 2
    other.execute("COMMIT")
    other.close()
    assert same(kept[3], kept[3])
    assert kept.hits == 1
