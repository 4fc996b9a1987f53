"""Blocks through every kind of loader: what the step reads, and that every arm runs."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, Subset

from cachebisect._job.feeds import HeldBatches, HeldFeed
from engine import TestEngine
from loaders import (
    Compose,
    InPlaceMember,
    Items,
    KeywordCompose,
    KeywordItems,
    KeywordMember,
    ListItems,
    Member,
    Mixed,
    Stream,
    collate_lists,
    set_own_attribute,
)  # fmt: skip
from measured import every_arm, measure, stage_names

HAS_IN_ORDER = "in_order" in inspect.signature(DataLoader).parameters
OUT_OF_ORDER = {"in_order": False} if HAS_IN_ORDER else {}
"""Known from torch 2.6 on."""
WORKERS = [(0, None), (1, "fork"), (2, "fork"), (4, "fork"), (2, "spawn"), (2, "forkserver")]


@pytest.mark.parametrize("workers,method", WORKERS)
def test_every_arm_serves_whole_transformed_batches(
    workers: int, method: Any, tmp_path: Any
) -> None:
    dataset = Items(Compose([Member(100), Member(1000)]))
    loader = DataLoader(
        dataset, batch_size=4, shuffle=True, num_workers=workers, multiprocessing_context=method
    )
    batches = measure(loader, every_arm, tmp_path)
    assert len(batches) > 60
    for x, index in batches:
        assert x.shape == (4, 4)
        assert torch.equal(x[:, 0], x[:, 3])
        assert all(float(v) >= 100 for v in x[:, 0]) and index.shape == (4,)


def test_replays_equal_live_batches(tmp_path: Any) -> None:
    """Without random draws the batch of every replay is the live batch of its indices."""
    loader = DataLoader(Items(Compose([Member(100), InPlaceMember(1000)])), batch_size=4)
    seen = []

    def script(engine: TestEngine) -> None:
        n = len(engine.greet()["chain"]["stages"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for boundary in range(n + 1):
            for _ in range(3):
                engine.run(boundary=boundary)
        engine.finish()

    def step(batch: Any) -> None:
        seen.append(bool(torch.equal(batch[0][:, 0], batch[1] + 1100.0)))

    measure(loader, script, tmp_path, step)
    assert len(seen) > 60 and all(seen)


@pytest.mark.parametrize("workers", [0, 2])
def test_freshened_caches_hold_as_many_samples_as_asked_for(workers: int, tmp_path: Any) -> None:
    loader = DataLoader(Items(Member(100)), batch_size=4, num_workers=workers)
    seen: list[tuple[int, ...]] = []
    served: list[set[tuple[int, ...]]] = []

    def script(engine: TestEngine) -> None:
        n = len(engine.greet()["chain"]["stages"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for samples in (16, 48):
            engine.ask("freshen", samples=samples)
            seen.clear()
            for _ in range(4):
                engine.run(boundary=n)
            served.append(set(seen))
        engine.finish()

    measure(loader, script, tmp_path, lambda batch: seen.append(tuple(batch[1].tolist())))
    assert [len(batches) for batches in served] == [4, 12]


def zeros(_x: Any) -> Any:
    return torch.zeros(4)


def number_in_place(samples: Any) -> Any:
    """As ultralytics marks the boxes of each image: what is stacked is the samples' own memory."""
    for number, (x, _) in enumerate(samples):
        x += number
    return torch.stack([x for x, _ in samples])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_collate_fn_that_writes_into_samples_meets_each_of_them_fresh(
    workers: int, tmp_path: Any
) -> None:
    dataset = Items(Compose([zeros, Member(0)]))
    loader = DataLoader(dataset, batch_size=4, num_workers=workers, collate_fn=number_in_place)
    batches = measure(loader, every_arm, tmp_path)
    assert len(batches) > 60
    for batch in batches:
        assert batch[:, 0].tolist() == [0, 1, 2, 3]


LOADERS = {
    "subset": lambda: DataLoader(Subset(Items(Compose([Member()])), range(40)), batch_size=4),
    "plain list": lambda: DataLoader(ListItems([Member(), Member()]), batch_size=4),
    "keywords": lambda: DataLoader(KeywordItems(KeywordCompose([KeywordMember()])), batch_size=4),
    "in place": lambda: DataLoader(
        Items(Compose([InPlaceMember(), InPlaceMember()])), batch_size=4
    ),
    "sequential": lambda: DataLoader(Items(torch.nn.Sequential(torch.nn.Identity())), batch_size=4),
    "no transform": lambda: DataLoader(Items(), batch_size=4, num_workers=2),
    "collate changes samples": lambda: DataLoader(
        Items(Compose([Member()])), batch_size=4, collate_fn=collate_lists, num_workers=1
    ),
    "batch sampler": lambda: DataLoader(
        Items(), batch_sampler=BatchSampler(SequentialSampler(range(64)), 4, False), num_workers=2
    ),
    "single samples": lambda: DataLoader(Items(), batch_size=None, num_workers=2),
    "stream": lambda: DataLoader(Stream(), batch_size=4, num_workers=2),
    "stream with transform": lambda: DataLoader(
        Stream(transform=Compose([Member()])), batch_size=4
    ),
    "stream of one shard": lambda: DataLoader(Stream(shards=1), batch_size=4, num_workers=2),
    "worker init": lambda: DataLoader(
        Items(), batch_size=4, num_workers=2, worker_init_fn=set_own_attribute
    ),
    "persistent, out of order": lambda: DataLoader(
        Items(), batch_size=4, num_workers=2, persistent_workers=True, **OUT_OF_ORDER
    ),
    "pinned without a device": lambda: DataLoader(
        Items(), batch_size=4, num_workers=1, pin_memory=True
    ),
    "one short batch": lambda: DataLoader(Items(length=3), batch_size=4),
    "samples that differ": lambda: DataLoader(
        Mixed(Compose([Member(), InPlaceMember()])), batch_size=4, num_workers=1, collate_fn=list
    ),
    "list of batches": lambda: [torch.zeros(4, 2)] * 3,
}


@pytest.mark.filterwarnings("ignore:.*pin_memory.*")
@pytest.mark.parametrize("name", LOADERS)
def test_every_arm_of_every_kind_of_loader(name: str, tmp_path: Any) -> None:
    measure(LOADERS[name](), every_arm, tmp_path)


def test_members_are_found_in_the_order_of_their_calls(tmp_path: Any) -> None:
    loader = DataLoader(Items(Compose([Member(), InPlaceMember()])), batch_size=4, num_workers=2)
    assert stage_names(loader, tmp_path) == [
        "read Items.__getitem__",
        "transforms[0] Member",
        "transforms[1] InPlaceMember",
        "collate_fn default_collate",
        "transfer",
    ]


def test_users_own_sampler_is_a_stage(tmp_path: Any) -> None:
    class Mine:
        def __iter__(self) -> Any:
            return iter(range(64))

        def __len__(self) -> int:
            return 64

    loader = DataLoader(Items(), batch_size=4, sampler=Mine())
    assert stage_names(loader, tmp_path)[0] == "sampler Mine"


def test_a_step_that_writes_into_batches_on_its_device_gets_copies() -> None:
    held = HeldBatches(host=[torch.ones(2)], device=[torch.ones(2)], sizes=[2])
    held.keep_digests()
    feed = HeldFeed(held, held.device, 0)
    feed.take()[0].sub_(0.5)
    assert feed.is_spoiled()
    feed = HeldFeed(held, held.device, 0)
    for _ in range(2):
        batch, _ = feed.take()
        assert batch.tolist() == [1.0, 1.0]
        batch.sub_(0.5)
    assert not feed.is_spoiled()
