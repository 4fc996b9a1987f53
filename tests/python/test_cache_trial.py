"""A cache that is tried out is full, and serves nothing but what is in it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader

from cachebisect._cache import trial
from cachebisect._cache.sqlite_file import Broken
from cachebisect._cache.unnamed_file import UnnamedFile
from cached_data import Jitter, Numbers, Scale


@pytest.mark.parametrize("workers", [0, 2])
def test_stages_before_the_cache_never_run(workers: int) -> None:
    kept = trial.filled(Numbers(Scale(), Jitter(), count=50), "transforms[0]")
    kept.dataset.transform.transforms[0].factor = 10**6  # Would be seen.
    loader = DataLoader(kept, batch_size=5, shuffle=True, num_workers=workers)
    for x, _labels in loader:
        assert torch.all(x < 3 * 50)
    if workers == 0:
        assert (kept.hits, kept.misses) == (50, 0)


def test_any_index_is_served() -> None:
    kept = trial.filled(Numbers(Scale(), count=10), "sample")
    assert {float(kept[key][0][0]) % 3 for key in (0, 9, 123456, "name", (1, 2))} == {0.0}


def test_a_trial_ends_with_its_folder() -> None:
    kept = trial.filled(Numbers(Scale()), "sample")
    path = kept._folder.path  # type: ignore[union-attr]
    assert path.exists()
    kept.close()
    assert not path.exists()


@pytest.mark.parametrize(
    ("dataset", "after", "words"),
    [
        (Numbers(Jitter()), "sample", "makes another output in every epoch"),
        (Numbers(Scale()), "transforms[4]", "is no stage"),
        (Numbers(Scale(), width=5_000_000), "sample", "a sample takes"),
    ],
)
def test_what_cannot_be_cached_is_refused(
    dataset: Any, after: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "most_memory", lambda: 32e6)
    with pytest.raises(ValueError) as raised:
        trial.filled(dataset, after)
    assert words in str(raised.value)


def test_without_shared_memory_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "most_memory", lambda: 1e6)
    with pytest.raises(ValueError, match="not free"):
        trial.filled(Numbers(Scale()), "sample")


class FromDisk(Numbers):
    """Reads a file of its own before its members run."""

    def __init__(self, folder: Path, *members: Any) -> None:
        super().__init__(*members, count=20)
        self.folder = folder
        for index in range(20):
            (folder / f"{index}.bin").write_bytes(bytes([index] * 4))

    def __getitem__(self, index: int) -> Any:
        data = (self.folder / f"{index}.bin").read_bytes()
        return self.transform(torch.tensor(list(data), dtype=torch.float32)), index


@pytest.mark.parametrize("workers,method", [(0, None), (2, "fork"), (1, "spawn")])
def test_what_was_read_comes_from_a_file_without_a_name(
    workers: int, method: Any, tmp_path: Path
) -> None:
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    cache.mkdir()
    # What the first member gives differs each time: what it gets does not.
    kept = trial.filled(FromDisk(source, Jitter(), Scale()), "read", str(cache))
    assert kept.after == "read"
    assert list(cache.iterdir()) == []
    for file in source.iterdir():
        file.write_bytes(b"\xff\xff\xff\xff")
    loader = DataLoader(kept, batch_size=5, num_workers=workers, multiprocessing_context=method)
    batches = [(x, labels) for x, labels in loader]
    for x, labels in batches:
        assert torch.all((x / 3).floor()[:, 0] == labels)
    assert len({float(x[0, 0]) for x, _ in batches for x in x[:, None]}) == 20  # drawn anew
    assert list(cache.iterdir()) == []
    kept.close()
    assert kept[3][0][0] >= 3 * 255  # What the dataset makes now.


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("missing", "file"):
        with pytest.raises(ValueError, match=f"no file can be made in .*/{name}: "):
            trial.filled(Numbers(Scale()), "read", str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_kept_of_reading_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="draws random numbers"):
        trial.filled(Numbers(Scale(), code=lambda x: x + torch.rand(())), "read", str(tmp_path))


def test_an_unnamed_file_has_a_limit(tmp_path: Path) -> None:
    file = UnnamedFile(str(tmp_path), 10)
    assert file.put("a", b"12345678") and not file.put("b", b"123")
    assert file.put("c", b"90")
    assert (file.get("a"), file.get("b"), file.get("c")) == (b"12345678", None, b"90")
    assert file.keys() == ["a", "c"]
    copy = pickle.loads(pickle.dumps(file))
    assert copy.get("c") == b"90"
    copy.close()
    assert (file.describe("x", "1"), file.describe("x", "2"), file.about("y")) == ("1", "1", None)
    file.remove()
    with pytest.raises(Broken):
        copy.get("a")
