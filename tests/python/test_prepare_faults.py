"""Prepared sets: runs that end early, damaged files, folders of others. Never a wrong sample."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import resource
import shutil
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from cachebisect import NotCacheable
from cachebisect._prepare import api, shard_file
from cachebisect._prepare.contents import JOURNAL
from cachebisect._prepare.pieces import Pieces
from cached_data import Jitter, Numbers, Scale, same
from child_processes import children_left
from prepared_data import FAULT, Files

FORK = multiprocessing.get_context("fork")
"""Other processes need not import torch, which takes seconds."""
SMALL = "1MiB"
"""A shard of a bit more than 100 samples of Files."""


def dataset() -> Files:
    return Files()


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.*") if path.suffix != ".json"}


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.glob("shard-*.tar")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: Any) -> Path:
    """A set of three shards that nothing has disturbed."""
    folder: Path = tmp_path_factory.mktemp("prepared") / "whole"
    assert cachebisect.prepare(dataset(), folder, shard_size=SMALL).shards == 3
    return folder


def copied(whole: Path, folder: Path) -> Path:
    return Path(shutil.copytree(whole, folder / "copy"))


def assert_goes_on(folder: Path, whole: Path, kept: int, **options: Any) -> None:
    """`kept`: shards that are not written again."""
    before = inodes(folder)
    assert len(before) >= kept
    found = cachebisect.prepare(dataset(), folder, shard_size=SMALL, **options)
    assert 0 < found.written < found.samples or kept == 0
    assert tree(folder) == tree(whole)
    after = inodes(folder)
    assert sum(after[name] == before.get(name) for name in after) == kept
    assert children_left() == 0
    read = cachebisect.prepared(dataset(), folder)
    assert all(same(read[index], dataset()[index]) for index in range(300))
    assert read.misses == 0


def prepare_until_250(folder: Path) -> None:
    """Never ends: sample 250 is not made."""
    make: Any = Pieces.make
    Pieces.make = lambda self, index: make(  # type: ignore[method-assign]
        self, index if index != 250 else time.sleep(1000)
    )
    cachebisect.prepare(dataset(), folder, shard_size=SMALL, workers=2)


def children_of(process: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            text = Path(f"/proc/{entry}/stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if text and int(text.rpartition(")")[2].split()[1]) == process:
            found.append(int(entry))
    return found


def test_a_run_that_was_killed_is_gone_on_with(tmp_path: Path, whole: Path) -> None:
    run = FORK.Process(target=prepare_until_250, args=(tmp_path / "set",))
    run.start()
    try:
        while not (tmp_path / "set" / "shard-00001.tar").exists():
            assert run.is_alive()
            time.sleep(0.01)
        assert run.pid is not None
        workers = children_of(run.pid)
    finally:
        run.kill()
        run.join()
    assert workers
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):
        time.sleep(0.01)
    with pytest.raises(RuntimeError, match=r"not whole: 2\d\d of 300 samples are written"):
        cachebisect.prepared(dataset(), tmp_path / "set")
    assert_goes_on(tmp_path / "set", whole, kept=2)


def run_until(folder: Path, calls: int) -> None:
    """Ends this process by SIGKILL at the call of that number that writes a file for good."""
    left, process = [calls], os.getpid()

    def counted(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            left[0] -= os.getpid() == process
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **kwargs)

        return call

    for owner, name in ((os, "fsync"), (os, "replace"), (Path, "unlink"), (os, "ftruncate")):
        setattr(owner, name, counted(getattr(owner, name)))
    cachebisect.prepare(dataset(), folder, shard_size=SMALL)


@pytest.mark.parametrize("first", range(4))
def test_a_run_may_be_killed_wherever_it_writes(tmp_path: Path, whole: Path, first: int) -> None:
    killed = 0
    for calls in range(1 + first, 60, 4):
        folder = tmp_path / str(calls)
        run = FORK.Process(target=run_until, args=(folder, calls))
        run.start()
        run.join()
        if run.exitcode == 0:
            break
        assert run.exitcode == -signal.SIGKILL
        killed += 1
        cachebisect.prepare(dataset(), folder, shard_size=SMALL)
        assert tree(folder) == tree(whole)
        assert {path.name for path in folder.iterdir()} == {path.name for path in whole.iterdir()}
    assert killed > 4


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sample_that_fails_is_named(
    tmp_path: Path, whole: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv(FAULT, "250 error")
        with pytest.raises(LookupError, match="no such file") as raised:
            cachebisect.prepare(dataset(), tmp_path, shard_size=SMALL, workers=workers)
    assert "sample 250 failed" in str(raised.value.__cause__)
    assert_goes_on(tmp_path, whole, kept=2)


def test_a_sample_that_fails_while_it_is_measured_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAULT, "5 error")
    with pytest.raises(LookupError) as raised:
        cachebisect.prepare(dataset(), tmp_path, dry_run=True)
    assert "sample 5 failed" in str(raised.value.__cause__)


def test_a_worker_that_ends_is_told(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv(FAULT, f"250 {int(signal.SIGKILL)}")
        with pytest.raises(RuntimeError, match="ended by signal 9"):
            cachebisect.prepare(dataset(), tmp_path, shard_size=SMALL, workers=3)
    assert_goes_on(tmp_path, whole, kept=2, workers=3)


def prepare_with_a_limit(folder: Path, told: Any) -> None:
    """Sends the error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, resource.RLIM_INFINITY))
    try:
        cachebisect.prepare(dataset(), folder, shard_size=SMALL)
    except OSError as error:
        told.send((error.errno, str(error)))


def test_a_file_that_may_not_grow(tmp_path: Path, whole: Path) -> None:
    heard, told = FORK.Pipe(duplex=False)
    run = FORK.Process(target=prepare_with_a_limit, args=(tmp_path, told))
    run.start()
    run.join()
    assert run.exitcode == 0 and heard.poll()
    number, text = heard.recv()
    assert number == errno.EFBIG and "there is no room in" in text
    assert not list(tmp_path.glob("*.tar*"))
    assert_goes_on(tmp_path, whole, kept=0)


def test_a_full_disk_keeps_whole_shards(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [2_500_000]
    add = shard_file.ShardFile.add

    def limited(self: Any, data: bytes) -> int:
        room[0] -= len(data)
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return add(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(shard_file.ShardFile, "add", limited)
        with pytest.raises(OSError, match="whole shards with 2") as raised:
            cachebisect.prepare(dataset(), tmp_path, shard_size=SMALL)
    assert raised.value.errno == errno.ENOSPC
    assert not list(tmp_path.glob("*.part"))
    assert_goes_on(tmp_path, whole, kept=2)


def test_a_set_that_does_not_fit_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "free_bytes", lambda folder: 1_000_000)
    with pytest.raises(OSError, match="are to be written after sample, and 1 MB are free"):
        cachebisect.prepare(dataset(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def cut(path: Path, place: int) -> None:
    os.truncate(path, place)


def removed(path: Path, _place: int) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [flip, cut, removed])
@pytest.mark.parametrize("file", ["shard-00001.tar", "positions.bin"])
def test_what_is_damaged_is_made_by_the_dataset_and_mended(
    tmp_path: Path, whole: Path, damage: Any, file: str
) -> None:
    folder = copied(whole, tmp_path)
    middle = (folder / file).stat().st_size // 2
    damage(folder / file, middle)
    read = cachebisect.prepared(dataset(), folder)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert all(same(read[index], dataset()[index]) for index in range(300))
    assert len(told) == 1 and "are made by the dataset" in str(told[0].message)
    assert read.misses == 1 if damage is flip else read.misses > 40
    kept = 2 if file == "shard-00001.tar" or damage is flip else {cut: 1, removed: 0}[damage]
    assert_goes_on(folder, whole, kept=kept)
    assert not (folder / JOURNAL).exists()


@pytest.mark.parametrize("place", range(0, 9000, 611))
def test_no_flipped_bit_gives_another_sample(tmp_path: Path, whole: Path, place: int) -> None:
    folder = copied(whole, tmp_path)
    flip(folder / "shard-00000.tar", place)
    flip(folder / "positions.bin", 32 + place % 64)
    read = cachebisect.prepared(dataset(), folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(same(read[index], dataset()[index]) for index in range(5))


def test_rows_in_another_order_are_seen(tmp_path: Path, whole: Path) -> None:
    folder = copied(whole, tmp_path)
    rows = (folder / "positions.bin").read_bytes()
    (folder / "positions.bin").write_bytes(rows[32:64] + rows[:32] + rows[64:])
    read = cachebisect.prepared(dataset(), folder)
    with pytest.warns(UserWarning, match="missing from positions"):
        assert same(read[0], dataset()[0]) and same(read[1], dataset()[1])
    assert read.misses == 2


def test_damage_while_it_is_read(tmp_path: Path, whole: Path) -> None:
    folder = copied(whole, tmp_path)
    read = cachebisect.prepared(dataset(), folder)
    assert same(read[299], dataset()[299])
    cut(folder / "shard-00002.tar", 0)
    with pytest.warns(UserWarning, match="not what was written"):
        assert same(read[299], dataset()[299])


def unfinished(whole: Path, folder: Path) -> Path:
    """As a run leaves it that was ended in the last shard."""
    folder = copied(whole, folder)
    held = json.loads((folder / "index.json").read_text())
    lines = [held, {"recipes": held["recipes"]}, *held["shards"]]
    (folder / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "index.json").unlink()
    return folder


def test_shards_that_were_noted_but_not_named(tmp_path: Path, whole: Path) -> None:
    folder = unfinished(whole, tmp_path)
    last = folder / "shard-00002.tar"
    last.rename(folder / "shard-00002.tar.part")
    found = cachebisect.prepare(dataset(), folder, shard_size=SMALL)
    assert found.written == 0 and tree(folder) == tree(whole)


@pytest.mark.parametrize("end", ['{"number": 2, "fir', "\0\0\0"])
def test_a_line_that_was_not_written_to_its_end(tmp_path: Path, whole: Path, end: str) -> None:
    folder = unfinished(whole, tmp_path)
    journal = folder / JOURNAL
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + end)
    (folder / "shard-00002.tar").unlink()
    assert_goes_on(folder, whole, kept=2)


def test_a_line_that_is_damaged(tmp_path: Path, whole: Path) -> None:
    folder = unfinished(whole, tmp_path)
    journal = folder / JOURNAL
    lines = journal.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("{", "[")
    journal.write_text("".join(lines))
    assert_goes_on(folder, whole, kept=1)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"kind": "cachebisect.prepare"}'])
def test_an_index_that_cannot_be_read(tmp_path: Path, whole: Path, text: str) -> None:
    folder = copied(whole, tmp_path)
    (folder / "index.json").write_text(text)
    for act in (cachebisect.prepare, cachebisect.prepared):
        with pytest.raises(RuntimeError, match="cannot be read"):
            act(dataset(), folder)
    assert tree(folder) == tree(whole)


def test_folders_of_others_are_left_alone(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for folder, words in (("notes", "holds something else"), ("file", "cannot be used")):
        for options in ({}, {"dry_run": True}):
            with pytest.raises(RuntimeError, match=words):
                cachebisect.prepare(dataset(), tmp_path / folder, **options)
        with pytest.raises(RuntimeError, match=words):
            cachebisect.prepared(dataset(), tmp_path / folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "notes", "thesis.txt"]
    folder = copied(whole, tmp_path)
    (folder / "shard-00003.tar").write_text("mine")
    with pytest.raises(RuntimeError, match=r"shard-00003\.tar is not one of the shards"):
        cachebisect.prepare(dataset(), folder)
    assert (folder / "shard-00003.tar").read_text() == "mine"


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(RuntimeError, match="holds nothing"):
            cachebisect.prepared(dataset(), folder)


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, whole: Path) -> None:
    folder = copied(whole, tmp_path)
    folder.chmod(0o777)
    for act in (cachebisect.prepare, cachebisect.prepared):
        with pytest.raises(RuntimeError, match="others can write to"):
            act(dataset(), folder)


@pytest.mark.parametrize(
    ("other", "options", "words"),
    [
        (Numbers(Scale(4), Jitter()), {}, "other stages (transforms[0] Scale)"),
        (Numbers(Jitter(), Scale()), {"after": "sample"}, "another output in every epoch"),
        (Numbers(Scale(), Jitter(), count=41), {}, "another dataset"),
        (Numbers(Scale(), Jitter()), {"version": "2"}, "another version"),
        (Numbers(Scale(), Scale(), Jitter()), {"after": "transforms[1]"}, "not transforms[1]"),
        (
            Numbers(Scale(), Jitter()),
            {"after": "transforms[0]", "frozen": True},
            "prepared with frozen=False",
        ),
    ],
)
def test_another_content_is_refused(tmp_path: Path, other: Any, options: Any, words: str) -> None:
    cachebisect.prepare(Numbers(Scale(), Jitter()), tmp_path)
    before = tree(tmp_path)
    with pytest.raises((RuntimeError, NotCacheable)) as raised:
        cachebisect.prepare(other, tmp_path, **options)
    assert words in str(raised.value)
    assert tree(tmp_path) == before
    if not options:
        with pytest.raises(RuntimeError) as raised:
            cachebisect.prepared(other, tmp_path)
        assert words in str(raised.value)


def test_data_that_have_changed_are_seen(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAULT, "299 negative")
    with pytest.raises(NotCacheable, match="the data has changed"):
        cachebisect.prepared(dataset(), whole)


def test_other_stages_behind_it_while_it_is_written(tmp_path: Path, whole: Path) -> None:
    folder = unfinished(whole, tmp_path)
    (folder / "shard-00002.tar").unlink()
    other = dataset()
    other.transform.transforms.append(Jitter())
    with pytest.raises(RuntimeError, match="was begun with other stages behind"):
        cachebisect.prepare(other, folder, shard_size=SMALL)
    assert_goes_on(folder, whole, kept=2)


class Unsteady(Numbers):
    """Sample 64 is another one each time."""

    def __getitem__(self, index: int) -> Any:
        x, label = super().__getitem__(index)
        self.code["made"] = self.code.get("made", 0) + 1
        return (x + self.code["made"] if index == 64 else x), label


def test_samples_that_do_not_repeat_end_it_for_good(tmp_path: Path) -> None:
    data = Unsteady(Scale(), Jitter(), count=200, width=500)
    with pytest.raises(NotCacheable, match="sample 64 from the cache is not what"):
        cachebisect.prepare(data, tmp_path, shard_size="64KiB")
    for _ in range(2):
        with pytest.raises(NotCacheable, match="found by an earlier run"):
            cachebisect.prepare(data, tmp_path, shard_size="64KiB")


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    from cachebisect._prepare.folder import locked

    with locked(tmp_path / "set"), pytest.raises(RuntimeError, match="another process is writing"):
        cachebisect.prepare(dataset(), tmp_path / "set")
    cachebisect.prepare(Numbers(Scale()), tmp_path / "set")


def test_a_stage_that_was_taken_away(tmp_path: Path) -> None:
    data = Numbers(Scale(), Jitter())
    cachebisect.prepare(data, tmp_path)
    read = cachebisect.prepared(data, tmp_path)
    data.transform.transforms.clear()
    with pytest.warns(UserWarning, match="cannot be found in this process"):
        assert read[2][0][0] == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read[3][0][0] == 3
