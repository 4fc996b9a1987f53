"""Stages that draw random numbers are told from those that give the same in every epoch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cachebisect
from cachebisect._chain.description import chain_of_loader
from cachebisect._worker.draws import states
from cachebisect._worker.probe import probe
from cached_data import Jitter, Numbers, Scale, SeldomNoise, seldom_more


def found_in(dataset: Any) -> dict[str, Any]:
    return probe(dataset, [lambda index=index: dataset[index] for index in range(4)])


def test_members_that_draw_are_marked() -> None:
    found = found_in(Numbers(Scale(), SeldomNoise(), Scale(), Jitter()))
    assert [stage["random"] for stage in found["stages"]] == [False, True, False, True]
    assert not found["random"]


@pytest.mark.parametrize("members", [(), (Scale(),)])
def test_code_of_the_dataset_that_draws_is_marked(members: tuple[Any, ...]) -> None:
    assert found_in(Numbers(*members, code=seldom_more))["random"]
    assert not found_in(Numbers(*members))["random"]


def test_watching_draws_nothing() -> None:
    before = states()
    found_in(Numbers(Scale()))
    assert states() == before


def test_a_dataset_that_keeps_samples_is_said_to() -> None:
    kept = cachebisect.cached(Numbers(Scale(), Jitter()), memory="16MiB")
    assert all(kept[index] is not None for index in range(4))
    loader = torch.utils.data.DataLoader(torch.utils.data.Subset(kept, range(4)), batch_size=4)
    chain = chain_of_loader(loader, found_in(kept), False)
    assert chain.cached_after == ()
    assert any("keeps samples after transforms[0] Scale" in note for note in chain.notes)
    assert [stage.name.split()[0] for stage in chain.stages] == [
        "read", "transforms[1]", "collate_fn",
    ]  # fmt: skip


def test_what_follows_a_random_stage_cannot_be_cached() -> None:
    dataset = Numbers(Scale(), Jitter(), Scale())
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    stages = [stage.to_json() for stage in chain_of_loader(loader, found_in(dataset), False).stages]
    assert [stage["name"].split()[0] for stage in stages] == [
        "read", "transforms[0]", "transforms[1]", "transforms[2]", "collate_fn",
    ]  # fmt: skip
    assert [stage["random"] for stage in stages] == [False, False, True, False, False]
    assert [stage["cacheable"] for stage in stages] == [True, True, False, False, False]
