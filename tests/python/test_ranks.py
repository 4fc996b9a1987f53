"""Which rank of a distributed job a process is, by its environment."""

from __future__ import annotations

from typing import Any

import pytest

from cachebisect._job.ranks import local_ranks, rank_and_world


@pytest.mark.parametrize(
    "rank,world,expected",
    [
        (None, None, (0, 1)),
        ("2", "4", (2, 4)),
        ("3", None, (0, 1)),
        ("4", "4", (0, 1)),
        ("first", "4", (0, 4)),
        ("", "", (0, 1)),
    ],
)
def test_rank_and_world(rank: Any, world: Any, expected: Any, monkeypatch: Any) -> None:
    """What is no rank of a world belongs to another program."""
    for name, value in (("RANK", rank), ("WORLD_SIZE", world)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert rank_and_world() == expected


@pytest.mark.parametrize("text,expected", [("2", 2), ("0", 1), ("many", 1)])
def test_local_ranks(text: str, expected: int, monkeypatch: Any) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", text)
    assert local_ranks() == expected
