"""What stands in for a member while it is recorded looks like the member to the user's code."""

from __future__ import annotations

from typing import Any

from cachebisect._chain.slots import find_slots
from cachebisect._chain.stand_ins import Installed


class Transform:
    def __call__(self, x: int) -> int:
        return x + 1


class Random(Transform):
    def __call__(self, x: int) -> int:
        return x + 10


class CachingDataset:
    """As MONAI's CacheDataset: members that are not random ran once, before training."""

    def __init__(self) -> None:
        self.transforms = [Transform(), Random()]
        self.cached = self.transforms[0](0)

    def __getitem__(self, index: int) -> int:
        x = self.cached
        for member in self.transforms:
            if not isinstance(member, Transform) or isinstance(member, Random):
                x = member(x)
        return x


def test_a_stand_in_is_an_instance_of_what_it_stands_for() -> None:
    dataset = CachingDataset()
    called: list[int] = []

    def make(stage: int, original: Any) -> Any:
        def call(x: int) -> Any:
            called.append(stage)
            return original(x)

        return call

    with Installed(find_slots(dataset), make):
        assert [type(member) for member in dataset.transforms] != [Transform, Random]
        assert dataset[0] == 11
    assert called == [1]
    assert [type(member) for member in dataset.transforms] == [Transform, Random]
