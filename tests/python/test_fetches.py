"""What is noted of each batch that a DataLoader fetches."""

from __future__ import annotations

import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

from cachebisect._timing.fetches import Fetch, FetchLog, follow_fetches, read_fetches


class Fetcher:
    """As PyTorch's are."""

    def __init__(self, items: Iterator[int]) -> None:
        self.items = items
        self.collate_fn: Callable[[Any], Any] = list

    def fetch(self, index: list[int]) -> Any:
        return self.collate_fn(next(self.items) for _ in index)


@pytest.fixture
def kind(tmp_path: Path) -> Any:
    kind = type("Kind", (Fetcher,), {"fetch": Fetcher.fetch})
    module = types.SimpleNamespace(_MapDatasetFetcher=kind, _IterableDatasetFetcher=Fetcher)
    original = Fetcher.fetch
    follow_fetches(FetchLog(str(tmp_path)), module)
    Fetcher.fetch = original  # type: ignore[method-assign]
    return kind


def noted(folder: Path, pid: int) -> list[Fetch]:
    return list(read_fetches(str(folder), pid))


def test_batches_are_as_they_were_and_fetchers_are_numbered(kind: Any, tmp_path: Path) -> None:
    one, other = kind(iter(range(4))), kind(iter(range(4)))
    assert [one.fetch([0, 1]), other.fetch([0]), one.fetch([2])] == [[0, 1], [0], [2]]
    assert one.collate_fn is list
    found = noted(tmp_path, os.getpid())
    assert [fetch.fetcher for fetch in found] == [0, 1, 0]
    assert all(fetch.began <= fetch.collating <= fetch.ended for fetch in found)


def test_a_batch_that_fails_is_not_noted(kind: Any, tmp_path: Path) -> None:
    fetcher = kind(iter(()))

    def fails(data: Any) -> Any:
        raise ValueError("no")

    fetcher.collate_fn = fails
    with pytest.raises(ValueError):
        fetcher.fetch([0])
    assert fetcher.collate_fn is fails
    assert noted(tmp_path, os.getpid()) == []


def test_a_forked_process_has_a_file_of_its_own(kind: Any, tmp_path: Path) -> None:
    fetcher = kind(iter(range(4)))
    fetcher.fetch([0])
    child = os.fork()
    if child == 0:
        fetcher.fetch([0])
        os._exit(0)
    os.waitpid(child, 0)
    assert len(noted(tmp_path, os.getpid())) == len(noted(tmp_path, child)) == 1


def test_the_script_goes_on_without_a_folder(kind: Any, tmp_path: Path) -> None:
    fetcher = kind(iter(range(4)))
    tmp_path.rename(tmp_path.with_name("gone"))
    assert fetcher.fetch([0]) == [0]
    tmp_path.mkdir()
    assert noted(tmp_path, os.getpid()) == []


def test_a_line_that_is_not_complete_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "12").write_text("0 1 2 3\n0 4 5")
    assert noted(tmp_path, 12) == [Fetch(0, 1, 2, 3)]
