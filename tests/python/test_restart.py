"""Iterators that begin again: samplers that keep their position, and sources without items."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cachebisect._chain.restart import Restarting


class Resumable:
    """Keeps its position, and goes back to the start when it is asked for more than it has."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __iter__(self) -> Iterator[int]:
        while self.position < 3:
            self.position += 1
            yield self.position - 1
        self.position = 0


def test_items_begin_again_at_their_end() -> None:
    items = Restarting("ab")
    assert [items.next() for _ in range(5)] == ["a", "b", "a", "b", "a"]


def test_a_sampler_whose_epoch_has_just_ended_begins_the_next_one() -> None:
    items = Restarting(Resumable(position=3))
    assert [items.next() for _ in range(4)] == [0, 1, 2, 0]


def test_what_has_no_items_ends() -> None:
    with pytest.raises(StopIteration):
        Restarting([]).next()
