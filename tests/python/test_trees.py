"""Copies and measures of nested batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from cachebisect._chain import trees


class Pair(NamedTuple):
    a: Any
    b: Any


def test_map_leaves_keeps_the_structure() -> None:
    tree = {"x": [1, (2, 3)], "y": Pair(4, [5])}
    assert trees.map_leaves(tree, lambda n: n * 10) == {"x": [10, (20, 30)], "y": Pair(40, [50])}


def test_clone_shares_no_memory() -> None:
    inner = {"v": [bytearray(b"ab")]}
    copied = trees.clone(inner)
    inner["v"][0][0] = 0
    assert copied == {"v": [bytearray(b"ab")]}


def test_digest_sees_contents_structure_and_keys() -> None:
    digests = {trees.digest(tree) for tree in ([1, 2], [[1], 2], (1, 3), {"a": 1}, {"b": 1}, [])}
    assert len(digests) == 6
    assert trees.digest({"a": [1, "x"]}) == trees.digest({"a": [1, "x"]})


def test_what_cannot_be_pickled_is_left_out_of_a_digest() -> None:
    assert trees.digest([lambda: 0, 1]) == trees.digest([lambda: 1, 1])


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    batch = {"x": torch.ones(3, 2), "n": [torch.zeros(3, dtype=torch.int64)]}
    assert trees.nbytes(batch) == 3 * 2 * 4 + 3 * 8
    assert trees.count_samples(batch) == 3
    assert trees.describe(batch) == "float32 [3, 2], int64 [3]"
    before = trees.digest(batch)
    copied = trees.clone(batch)
    batch["x"][0, 0] = 7
    assert trees.digest(batch) != before == trees.digest(copied)


def test_clone_as_allocated_lies_in_shared_memory_where_the_original_does() -> None:
    torch = pytest.importorskip("torch")
    shared, private = torch.rand(5, 2).share_memory_(), torch.rand(5, 2)
    copies = trees.clone_as_allocated((shared, private))
    assert [c.is_shared() for c in copies] == [True, False]
    assert torch.equal(copies[0], shared) and torch.equal(copies[1], private)
    copies[0][0, 0] = 7
    assert shared[0, 0] != 7
