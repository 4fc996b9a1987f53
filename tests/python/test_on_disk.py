"""A cache in a file, and a prepared dataset, as changes that are tried in a folder of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from torch.utils.data import DataLoader

import cachebisect
from cachebisect._cache import disk_folder, trial
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cached_data import Jitter, Numbers, Scale
from job_blocks import live, run

KINDS = ("disk_cache", "prepared")


@pytest.fixture
def job() -> Any:
    made: list[Job] = []

    def make(loader: Any) -> Job:
        made.append(Job(loader, KeptState(())))
        return made[-1]

    yield make
    for one in made:
        one.close()


def in_folder(kind: str, folder: Path, after: str = "transforms[0]", cold: bool = False) -> Any:
    value = {"after": after, "folder": str(folder), "cold": cold}
    return live(**{kind: json.dumps(value)})


def numbers(*members: Any, workers: int = 0, **given: Any) -> Any:
    dataset = Numbers(*members, **given)
    return DataLoader(dataset, batch_size=4, shuffle=True, num_workers=workers)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_come_from_the_folder(job: Any, tmp_path: Path, kind: str, workers: int) -> None:
    measured = job(numbers(Scale(), Jitter(), workers=workers))
    arm = in_folder(kind, tmp_path / "made")
    assert measured.supports(arm), measured.why
    measured.loader.dataset.transform.transforms[0].factor = 10**6  # Would be seen.
    for values, _labels in run(measured, arm):
        assert float(values.max()) < 3 * 40 + 1
    assert list((tmp_path / "made").iterdir())


def test_the_script_uses_what_a_trial_has_cached(job: Any, tmp_path: Path) -> None:
    measured = job(numbers(Scale(), Jitter()))
    assert measured.supports(in_folder("disk_cache", tmp_path / "made"))
    measured.close()
    kept = cachebisect.cached(Numbers(Scale(), Jitter()), after="transforms[0]",
                              disk=tmp_path / "made")  # fmt: skip
    assert kept[7][0].shape == (4,) and (kept.hits, kept.misses) == (1, 0)
    kept.close()


def test_the_script_reads_what_a_trial_has_prepared(job: Any, tmp_path: Path) -> None:
    measured = job(numbers(Scale(), Jitter()))
    told: list[str] = []
    assert measured.supports(in_folder("prepared", tmp_path / "made", cold=True), told.append)
    measured.close()
    ready = cachebisect.prepared(Numbers(Scale(), Jitter()), tmp_path / "made")
    assert ready[7][0].shape == (4,) and (ready.hits, ready.misses) == (1, 0)
    assert any("of 40 samples are written" in text for text in told)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_that_differ_from_epoch_to_epoch_are_refused(
    job: Any, tmp_path: Path, kind: str
) -> None:
    measured = job(numbers(Scale(), Jitter()))
    assert not measured.supports(in_folder(kind, tmp_path / "made", "transforms[1]"))
    assert "transforms[1] Jitter makes another output in every epoch" in measured.why


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_folder_nothing_is_written(job: Any, kind: str) -> None:
    measured = job(numbers(Scale()))
    described = {s["name"]: s for s in measured.describe(PassThrough(), [])["settings"]}
    assert described[kind]["values"] == {"words": ["transforms[0]", "sample"]}
    assert '"FOLDER"' in described[kind]["code"]
    assert not measured.supports(live(**{kind: '"transforms[0]"'}))
    assert "cachebisect tune --scratch FOLDER" in measured.why


def test_a_disk_without_room_is_refused_before_samples_are_written(
    job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "free_in", lambda _folder: 10**6)
    measured = job(numbers(Scale()))
    assert not measured.supports(in_folder("disk_cache", tmp_path / "made"))
    assert "are needed for all samples, and 1 MB are free" in measured.why
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_of_something_else_is_left_as_it_is(job: Any, tmp_path: Path, kind: str) -> None:
    first = job(numbers(Scale()))
    assert first.supports(in_folder(kind, tmp_path / "made"))
    first.close()
    other = job(numbers(Scale(factor=5)))
    assert not other.supports(in_folder(kind, tmp_path / "made"))
    assert str(tmp_path / "made") in other.why and "remove" in other.why


def test_samples_are_kept_once(job: Any, tmp_path: Path) -> None:
    measured = job(numbers(Scale()))
    arm = in_folder("disk_cache", tmp_path / "made")
    arm["overrides"]["cache"] = '"transforms[0]"'
    assert not measured.supports(arm)
    assert "cache and disk_cache cannot be tried together" in measured.why
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_of_the_data_set_is_left_alone(job: Any, tmp_path: Path, kind: str) -> None:
    measured = job(numbers(Scale()))
    measured.loader.dataset.root = str(tmp_path / "data")
    assert not measured.supports(in_folder(kind, tmp_path / "data" / "scratch" / "made"))
    assert "lies in the data set's own folder" in measured.why
    assert list(tmp_path.iterdir()) == []
    assert measured.supports(in_folder(kind, tmp_path / "made")), measured.why


def test_a_stop_ends_the_writing(job: Any, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(text: str) -> None:
        if "are written" in text:
            raise Stopped

    measured = job(numbers(Scale()))
    with pytest.raises(Stopped):
        measured.supports(in_folder("prepared", tmp_path / "made"), stop)
    assert not (tmp_path / "made" / "index.json").exists()
    assert measured.supports(in_folder("prepared", tmp_path / "made")), measured.why


def test_what_is_free_counts_what_the_cache_has(tmp_path: Path) -> None:
    before = disk_folder.free_in(tmp_path)
    (tmp_path / "cache.sqlite").write_bytes(bytes(1 << 20))
    assert disk_folder.free_in(tmp_path) >= before - (1 << 20)
    assert disk_folder.bytes_of(tmp_path, None) > disk_folder.MIN_LIMIT
