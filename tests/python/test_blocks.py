"""Blocks through every kind of loader: what the step reads, and that every arm runs."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, Subset

from cachebisect._adapter import Adapter
from cachebisect._job import Job
from cachebisect._messages import Connection
from cachebisect._proxy import Proxy
from cachebisect._state import KeptState
from engine import TestEngine
from loaders import (
    Compose,
    Failing,
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


def measure(
    loader: Any,
    script: Any,
    tmp_path: Any,
    step: Any = None,
    state: Any = (),
    exact: Any = None,
) -> list[Any]:
    """Drives a training loop over `loader` while `script` plays the engine; the batches read."""
    path = str(tmp_path / "socket")
    engine = TestEngine(path, script)
    connection = Connection.open(path)
    kept = KeptState(state)
    adapter = Adapter(connection, lambda w: Job(loader, kept, writes_batches=w, exact=exact))
    batches = []
    try:
        adapter.greet()
        for batch in Proxy(adapter, iter(loader)):
            batches.append(batch)
            if step is not None:
                step(batch)
    finally:
        adapter.close()
        engine.join()
    return batches


def every_arm(engine: TestEngine) -> None:
    """Two blocks of every arm; each has the asked number of steps."""
    described = engine.greet()
    assert described["type"] == "describe", described
    sizes = engine.ask("sizes", samples=8)
    cache = engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)["cache"]
    n = len(described["chain"]["stages"])
    assert len(sizes["item_bytes"]) == len(cache["item_bytes"]) == n + 1
    assert cache["samples"] >= 16
    for _ in range(2):
        engine.ask("begin_round")
        for entry in described["arms"]:
            for boundary in entry.get("boundaries", []):
                check(engine.run(boundary=boundary), n)
            for stage in entry.get("stages", []):
                check(engine.run("bypass", stage=stage), n)
        if {"kind": "shadow"} in described["arms"]:
            check(engine.run("shadow"), n)
        assert engine.ask("freshen", samples=8)["freshened"]
    assert engine.run(observed=False)["stages"] == []
    assert engine.ask("machine")["own_cpu_seconds"] > 0
    engine.finish()


def check(block: dict[str, Any], stages: int) -> None:
    assert block["steps"] == 4 and block["warmup_steps"] == 2
    assert block["samples"] >= 4
    assert block["seconds"] > 0
    assert len(block["stages"]) == stages


def stage_names(loader: Any, tmp_path: Any) -> list[str]:
    names: list[str] = []

    def script(engine: TestEngine) -> None:
        names.extend(stage["name"] for stage in engine.greet()["chain"]["stages"])
        engine.finish()

    measure(loader, script, tmp_path)
    return names


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
        Items(), batch_size=4, num_workers=2, persistent_workers=True, in_order=False
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


def test_error_of_a_sample_is_answered(tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        answer = engine.ask(
            "run", arm={"kind": "replay", "boundary": 0}, steps=40, warmup_steps=0, seed=1
        )
        assert answer["type"] == "error" and answer["kind"] == "data"
        assert "bad sample" in answer["text"]
        engine.finish()

    loader = DataLoader(Failing(length=400), batch_size=4, num_workers=2)
    with pytest.raises(ValueError):
        list(loader)
    from cachebisect import _pass_through

    steps = _pass_through.PASS_STEPS
    try:
        _pass_through.PASS_STEPS = 2
        measure(loader, script, tmp_path)
    finally:
        _pass_through.PASS_STEPS = steps


def test_step_that_writes_into_its_batch_gets_copies(tmp_path: Any) -> None:
    firsts: list[float] = []

    def step(batch: Any) -> None:
        firsts.append(float(batch[0][0, 0]))
        batch[0].add_(1e6)

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert any("writes into its batches" in note for note in described["notes"])
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for _ in range(3):
            engine.run(boundary=len(described["chain"]["stages"]))
        engine.finish()

    measure(DataLoader(Items(), batch_size=4), script, tmp_path, step)
    assert max(firsts) < 1e6


def test_rounds_begin_with_the_same_weights(tmp_path: Any) -> None:
    model = torch.nn.Linear(4, 1)
    before = model.weight.detach().clone()

    def step(_batch: Any) -> None:
        with torch.no_grad():
            model.weight.add_(1.0)

    weights: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("begin_round")
        weights.append(model.weight.detach().clone())
        engine.run()
        engine.finish()

    measure(DataLoader(Items(), batch_size=4), script, tmp_path, step, [model])
    assert torch.equal(weights[0], before)
    assert torch.equal(model.weight, before)


def test_no_worker_is_left(tmp_path: Any) -> None:
    import multiprocessing

    measure(DataLoader(Items(), batch_size=4, num_workers=4), every_arm, tmp_path)
    assert multiprocessing.active_children() == []
