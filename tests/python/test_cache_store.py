"""The file of a cache: its limit, what is evicted, and what is stored in few bytes. No torch."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from cachebisect._cache.sizes import in_words, size_in_bytes
from cachebisect._cache.sqlite_file import Broken
from cachebisect._cache.store import Store, limit_for

LIMIT = 16 << 20


def store(folder: Path, evict: str = "none", durable: bool = False) -> Store:
    return Store(folder, LIMIT, evict, durable)


def bytes_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


@pytest.mark.parametrize("evict", ["none", "fifo", "lru"])
@pytest.mark.parametrize("size", [2000, 300_000, 900_000])
def test_the_limit_holds_within_one_percent(tmp_path: Path, evict: str, size: int) -> None:
    kept = store(tmp_path, evict)
    rng = random.Random(1)
    for number in range(2 * LIMIT // size):
        kept.put(str(number), rng.randbytes(size // 2) * 2)
        assert bytes_of(tmp_path) <= 1.01 * LIMIT
    held = len(kept.keys()) * size
    assert held > 0.5 * LIMIT


@pytest.mark.parametrize(
    ("evict", "first", "used", "last"),
    [("none", True, True, False), ("fifo", False, False, True), ("lru", False, True, True)],
)
def test_what_is_evicted(tmp_path: Path, evict: str, first: bool, used: bool, last: bool) -> None:
    kept = store(tmp_path, evict)
    for number in range(120):
        kept.put(str(number), bytes(200_000))
        kept.get("1")
    found = [kept.get(key) is not None for key in ("0", "1", "119")]
    assert found == [first, used, last]


def test_a_value_that_is_too_large_evicts_nothing(tmp_path: Path) -> None:
    kept = store(tmp_path, "lru")
    for number in range(20):
        assert kept.put(str(number), bytes(100_000))
    assert not kept.put("large", bytes(kept.largest + 1))
    assert len(kept.keys()) == 20


@pytest.mark.parametrize("size", [500, 3000, 5000, 14_000, 20_000, 300_000, 3_000_000])
def test_a_limit_that_holds_all_values(tmp_path: Path, size: int) -> None:
    count = max(20, (12 << 20) // size)
    limit = max(LIMIT, int(limit_for(count, size)))
    kept = Store(tmp_path, limit, "none", False)
    assert all(kept.put(str(number), bytes(size)) for number in range(count))
    assert limit < 1.7 * count * size + LIMIT


def test_what_is_made_again_takes_the_place_of_what_was_there_in_a_full_file(
    tmp_path: Path,
) -> None:
    kept = store(tmp_path)
    while not kept.full:
        kept.put(str(len(kept.keys())), bytes(900_000))
    held = kept.keys()
    for key in held:
        assert not kept.put(key, b"1" * 900_000)
        assert kept.put(key, b"2" * 900_000, again=True)
        assert kept.get(key) == b"2" * 900_000
    assert not kept.put("another", bytes(900_000), again=True)
    assert kept.keys() == held and bytes_of(tmp_path) <= 1.01 * LIMIT


def test_two_stores_of_one_file_see_each_other(tmp_path: Path) -> None:
    one, other = store(tmp_path), store(tmp_path)
    assert one.put("a", b"1") and other.get("a") == b"1"
    assert other.put("a", b"2") and one.get("a") == b"2"
    assert one.describe("name", "x") == "x" == other.describe("name", "y")
    assert one.about("name") == "x" and one.about("other") is None


def test_a_forked_process_opens_the_file_anew(tmp_path: Path) -> None:
    kept = store(tmp_path)
    kept.put("a", b"1")
    child = os.fork()
    if child == 0:
        done = kept.get("a") == b"1" and kept.put("b", b"2")
        os._exit(0 if done else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.get("b") == b"2"


def test_what_is_no_cache_is_broken_and_named(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_bytes(b"something else" * 1000)
    for ask in (lambda: store(tmp_path).get("a"), lambda: store(tmp_path).put("a", b"1")):
        with pytest.raises(Broken, match=str(tmp_path)):
            ask()


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GiB", 8 << 30), ("500 MB", 500 * 10**6), ("1.5k", 1500), ("2Mi", 2 << 20), (123, 123)],
)
def test_sizes(text: Any, size: int) -> None:
    assert size_in_bytes("memory", text, 0) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1MB", "1 XB", "1MBB", "1e9"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="memory="):
        size_in_bytes("memory", text, 0)


def test_sizes_in_words() -> None:
    assert [in_words(size) for size in (12, 2500, 8.6e9)] == ["12 B", "2.5 kB", "8.6 GB"]


def test_a_view_is_stored_without_the_rest() -> None:
    torch = pytest.importorskip("torch")
    from cachebisect._cache.encoding import decoded, encoded

    large = torch.arange(10**6)
    values = [
        large[5:8],
        torch.zeros(0, 3),
        torch.tensor(2.0, dtype=torch.bfloat16),
        torch.eye(3).T,
    ]
    data = encoded([*values, values[0], large], [large])
    assert len(data) < 2000
    back = decoded(data, [large])
    assert all(torch.equal(one, other) for one, other in zip(back, values))
    assert back[1].shape == (0, 3) and back[2].dtype == torch.bfloat16
    assert back[4] is back[0] and back[5] is large
    back[0][0] = 9  # Nobody else has it.
    assert large[5] == 5
