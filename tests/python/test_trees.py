"""Copies and measures of nested batches."""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

import pytest

from cachebisect._chain import tree_sizes, trees


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
    assert tree_sizes.nbytes(batch) == 3 * 2 * 4 + 3 * 8
    assert trees.count_samples(batch) == 3
    assert trees.describe(batch) == "float32 [3, 2], int64 [3]"
    before = trees.digest(batch)
    copied = trees.clone(batch)
    batch["x"][0, 0] = 7
    assert trees.digest(batch) != before == trees.digest(copied)


class Array:
    """As JAX's and TensorFlow's, which are no tensors of torch."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


@pytest.mark.parametrize(
    ("batch", "samples"),
    [
        ({"image": Array((32, 224, 224, 3)), "label": Array((32,))}, 32),
        ((Array(()), Array((8, 2))), 8),  # A scalar has no samples.
        ([Array(lambda: (4,)), Array(("n", 2)), Array((None, 2)), "text"], None),
    ],
)
def test_arrays_of_any_library_count_samples(batch: Any, samples: Optional[int]) -> None:
    assert trees.count_samples(batch) == samples


def test_clone_as_allocated_lies_in_shared_memory_where_the_original_does() -> None:
    torch = pytest.importorskip("torch")
    batch = (torch.rand(5, 2).share_memory_(), "text", torch.rand(5, 2))
    shared = trees.in_shared_memory(batch)
    kept = trees.clone(batch)
    assert shared == [True, False, False] and not kept[0].is_shared()
    copies = trees.clone_as_allocated(kept, shared)
    assert copies[0].is_shared() and not copies[2].is_shared() and copies[1] == "text"
    assert torch.equal(copies[0], batch[0]) and torch.equal(copies[2], batch[2])
    copies[0][0, 0] = 7
    assert kept[0][0, 0] != 7


class Graph:
    """`keys` is a property, as in PyG before 2.4."""

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def keys(self) -> list[str]:
        return ["x"]

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class Series:
    """Each of its values has keys in turn, as a column of a data frame with equal labels has."""

    def keys(self) -> list[int]:
        return [0]

    def __getitem__(self, key: int) -> Any:
        return Series()


class Frozen(Mapping):  # type: ignore[type-arg]
    def __getitem__(self, key: str) -> Any:
        return [1, 2]

    def __iter__(self) -> Any:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class SharingCopies(UserDict):  # type: ignore[type-arg]
    """A copy holds the same dict, as a copy of a TensorDict does."""

    def __copy__(self) -> Any:
        made = SharingCopies()
        made.data = self.data
        return made


class Refusing:
    """Nothing that is asked of it succeeds."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("no copy")

    def __reduce__(self) -> Any:
        raise RuntimeError("no pickle")

    def __sizeof__(self) -> int:
        raise RuntimeError("no size")


def strange_batches() -> list[Any]:
    batches = [Graph([1]), Series(), Frozen(), SharingCopies(a=[3]), Refusing(), object, None]
    torch = sys.modules.get("torch")
    if torch is not None:
        sparse = torch.eye(4).to_sparse()
        batches += [sparse, torch.eye(4).to_sparse_csr(), torch.ones(2, device="meta")]
        if hasattr(torch, "jagged"):  # From torch 2.1 on.
            lines = [torch.ones(2), torch.ones(3)]
            batches.append(torch.nested.nested_tensor(lines, layout=torch.jagged))
        batches += [torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)]
        batches += [torch.ones(2, requires_grad=True), torch.tensor(3.0), torch.empty(0, 3)]
        batches += [Graph(torch.ones(3))]
    return batches


def test_no_batch_makes_a_function_raise() -> None:
    for batch in strange_batches():
        assert isinstance(trees.digest([batch]), int)
        assert isinstance(tree_sizes.nbytes({"x": batch}), int)
        assert trees.count_samples(batch) is None or trees.count_samples(batch) >= 0
        assert isinstance(trees.describe(batch), str)
        shared = trees.in_shared_memory(batch)
        trees.clone_as_allocated(trees.clone(batch), shared)
        # Data cannot leave the device meta: it has none.
        trees.to_device(batch, batch.device if trees.is_tensor(batch) else "cpu")


def test_a_mapping_whose_copy_shares_what_it_holds_stays_as_it_is() -> None:
    tree = SharingCopies(a=[1], b=2)
    assert trees.map_leaves(tree, lambda n: n + 1) == {"a": [2], "b": 3}
    assert tree == {"a": [1], "b": 2}


def test_what_an_object_holds_counts_as_its_bytes() -> None:
    torch = pytest.importorskip("torch")
    assert tree_sizes.nbytes(Graph(torch.ones(1000))) >= 4000
    sparse = torch.eye(100).to_sparse()
    assert tree_sizes.nbytes(sparse) == 100 * (4 + 2 * 8)


def test_an_object_that_refers_to_much_is_not_walked_for_ever() -> None:
    class Node:
        pass

    first = node = Node()
    for _ in range(100_000):
        node.next = Node()  # type: ignore[attr-defined]
        node.all = first  # type: ignore[attr-defined]
        node = node.next  # type: ignore[attr-defined]
    many = Node()
    many.nodes = [Node() for _ in range(100_000)]  # type: ignore[attr-defined]
    assert 0 < tree_sizes.nbytes(first) < 10_000
    assert 0 < tree_sizes.nbytes(many) < 1_000_000
