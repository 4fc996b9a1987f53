"""Blocks from samples that the stages after a boundary have never had."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader

from cachebisect._job import job
from engine import TestEngine
from loaders import Compose, CountingMember, Items, KeywordCompose, KeywordItems, Member, Stream
from measured import measure

WORKERS = [(0, None), (1, "fork"), (2, "fork"), (3, "forkserver")]
READ, FIRST, SECOND = 1, 2, 3
"""Boundaries of read, transforms[0], transforms[1]."""


def arms_of(loader: Any, tmp_path: Any) -> dict[str, Any]:
    arms: dict[str, Any] = {}

    def script(engine: TestEngine) -> None:
        arms.update({arm["kind"]: arm for arm in engine.greet()["arms"]})
        engine.finish()

    measure(loader, script, tmp_path)
    return arms


def blocks_of(
    loader: Any, tmp_path: Any, *blocks: tuple[str, int], **request: int
) -> list[list[Any]]:
    """The batches of each block: its kind and boundary. All have the steps asked for."""
    taken: list[Any] = []
    ends: list[int] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for kind, boundary in blocks:
            ends.append(len(taken))
            block = engine.run(kind, boundary=boundary, steps=7, **request)
            assert block["steps"] == 7 and not block["void"]
        ends.append(len(taken))
        engine.finish()

    # The steps before the blocks must not show the members what the blocks will.
    own = DataLoader(Items(), batch_size=4)
    measure(loader, script, tmp_path, taken.append, own=own)
    return [taken[begin:end] for begin, end in zip(ends, ends[1:])]


@pytest.mark.parametrize("workers,method", WORKERS)
def test_stages_never_had_the_samples_of_an_unseen_block(
    workers: int, method: Any, tmp_path: Any
) -> None:
    dataset = Items(Compose([Member(0), CountingMember()]), length=10000)
    loader = DataLoader(dataset, batch_size=4, num_workers=workers, multiprocessing_context=method)
    replayed, *unseen = blocks_of(
        loader, tmp_path, ("replay", READ), ("unseen", READ), ("unseen", FIRST), ("unseen", READ),
        ("unseen", SECOND),
    )  # fmt: skip
    assert any(bool((x >= 1000 + index[:, None]).any()) for x, index in replayed)
    for batches in unseen:
        assert len(batches) == 9
        for x, index in batches:
            assert torch.equal(x[:, 0], index.to(x.dtype))
    indices = [int(i) for batches in unseen for _, index in batches for i in index]
    assert len(set(indices)) == len(indices)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_steps_until_the_queues_of_all_ranks_have_filled_are_served_too(
    workers: int, tmp_path: Any
) -> None:
    loader = DataLoader(Items(Compose([Member(0)])), batch_size=4, num_workers=workers)
    (batches,) = blocks_of(loader, tmp_path, ("unseen", READ), settling=11)
    assert len(batches) == 2 + 11 + 7


def test_a_block_for_which_no_worker_keeps_a_batch_ends_with_an_error(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "prepare_unseen", lambda *_: None)

    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        answers.append(engine.ask_for_block("unseen", boundary=READ))
        engine.finish()

    measure(DataLoader(Items(), batch_size=4, num_workers=2), script, tmp_path)
    assert "no worker keeps a batch that this block could serve" in answers[0]["text"]


def test_each_sample_keeps_what_the_data_set_says_of_it(tmp_path: Any) -> None:
    """Stages that are left out before the block have answers of other samples meanwhile."""
    dataset = KeywordItems(KeywordCompose([KeywordCounting()]), length=1000)
    loader = DataLoader(dataset, batch_size=4, shuffle=True)
    (batches,) = blocks_of(loader, tmp_path, ("unseen", READ))
    for batch in batches:
        assert torch.equal(batch["image"][:, 0], batch["label"].to(torch.float32))


class KeywordCounting(CountingMember):
    def __call__(self, **data: Any) -> Any:
        return {**data, "image": super().__call__(data["image"])}


def test_only_boundaries_before_collate_fn_can_be_unseen(tmp_path: Any) -> None:
    loader = DataLoader(Items(Compose([Member(), Member()])), batch_size=4)
    assert arms_of(loader, tmp_path)["unseen"]["boundaries"] == [READ, FIRST, SECOND]


def test_no_sample_of_a_stream_is_lost_to_an_unseen_block(tmp_path: Any) -> None:
    loader = DataLoader(Stream(transform=Compose([Member()])), batch_size=4)
    assert "unseen" not in arms_of(loader, tmp_path)
