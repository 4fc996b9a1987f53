"""The stage `pin`, through torch's own pin thread, with batches that pin themselves slowly."""

from __future__ import annotations

import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader

from cachebisect._chain import pinning
from engine import TestEngine
from loaders import Items
from measured import every_arm, measure, stage_names
from pinned import (
    PIN_SECONDS,
    collate_fails_to_pin,
    collate_slow_to_pin,
    pretend_accelerator,
)  # fmt: skip

STEPS = 6


def pinning_loader(workers: int, **arguments: Any) -> Any:
    collate = arguments.pop("collate_fn", collate_slow_to_pin)
    return DataLoader(
        Items(), batch_size=4, num_workers=workers, collate_fn=collate, pin_memory=True, **arguments
    )


@pytest.mark.parametrize("workers,before", [(0, "collate_fn collate_slow_to_pin"), (2, "transfer")])
def test_pin_follows_what_brings_the_batch(
    workers: int, before: str, tmp_path: Any, monkeypatch: Any
) -> None:
    pretend_accelerator(monkeypatch)
    assert stage_names(pinning_loader(workers), tmp_path)[-2:] == [before, "pin"]


@pytest.mark.filterwarnings("ignore:.*pin_memory.*")
@pytest.mark.parametrize("workers", [0, 1])
def test_without_an_accelerator_nothing_is_pinned(workers: int, tmp_path: Any) -> None:
    described: list[Any] = []

    def script(engine: TestEngine) -> None:
        described.append(engine.greet())
        engine.finish()

    if pinning.has_accelerator():
        pytest.skip("there is an accelerator")
    measure(pinning_loader(workers), script, tmp_path)
    assert "pin" not in [stage["name"] for stage in described[0]["chain"]["stages"]]
    assert not described[0]["chain"]["copy_pinned"]
    assert any("pin_memory=True has no effect" in note for note in described[0]["notes"])


@pytest.mark.parametrize(
    "workers,arguments",
    [
        (0, {}),
        (1, {}),
        (2, {"multiprocessing_context": "forkserver"}),
        (2, {"in_order": False, "persistent_workers": True}),
    ],
)
def test_every_arm_serves_pinned_batches(
    workers: int, arguments: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    pretend_accelerator(monkeypatch)
    batches = measure(pinning_loader(workers, **arguments), every_arm, tmp_path)
    assert len(batches) > 60
    assert all(batch.x[:, 0].tolist() == batch.index for batch in batches)
    pinned_live = {batch.thread for batch in batches[:16]}  # An epoch
    assert pinned_live == {"pin" if workers else "training"}
    assert all(batch.thread for batch in batches)
    assert [t.name for t in threading.enumerate() if "_run" in t.name] == []


@pytest.mark.parametrize("workers", [0, 2])
def test_seconds_of_pinning_are_counted_where_it_is_live(
    workers: int, tmp_path: Any, monkeypatch: Any
) -> None:
    pretend_accelerator(monkeypatch)
    entries: list[Any] = []

    def script(engine: TestEngine) -> None:
        last = len(engine.greet()["chain"]["stages"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for boundary in (0, last - 2, last - 1, last):
            block = engine.run(boundary=boundary, steps=STEPS, warmup=4)
            entries.append(block["stages"][-1])
            entries[-1]["block"] = block["seconds"]
        engine.finish()

    measure(pinning_loader(workers), script, tmp_path)
    for entry in entries[:-1]:
        assert entry["samples"] == STEPS * 4
        assert entry["busy_seconds"] >= STEPS * PIN_SECONDS
        assert entry["serial_seconds"] == (0 if workers else entry["busy_seconds"])
    assert entries[-1]["samples"] == 0 and entries[-1]["busy_seconds"] == 0


def test_boundaries_around_pin_hold_private_and_pinned_batches(
    tmp_path: Any, monkeypatch: Any
) -> None:
    """Behind `transfer` each serving pins anew; behind `pin` the same batch is served again."""
    pretend_accelerator(monkeypatch)
    served: list[Any] = []
    live: list[bool] = []

    def step(batch: Any) -> None:
        served.append(batch)

    def script(engine: TestEngine) -> None:
        last = len(engine.greet()["chain"]["stages"])
        cache = engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)["cache"]
        batches = cache["samples"] // 4
        for boundary in (last - 1, last):
            engine.run(boundary=boundary, steps=2 * batches, warmup=1)
            block = served[-2 * batches :]
            live.append(len({id(batch) for batch in block}) == 2 * batches)
            assert block[0].index == block[batches].index
        engine.finish()

    measure(pinning_loader(2), script, tmp_path, step)
    assert live == [True, False]


@pytest.mark.parametrize("pinned", [False, True])
def test_a_live_arm_pins_or_does_not(pinned: bool, tmp_path: Any, monkeypatch: Any) -> None:
    pretend_accelerator(monkeypatch)
    threads: list[str] = []

    def step(batch: Any) -> None:
        threads.append(batch.thread)

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for override in (not pinned, pinned):
            arm = {"pin_memory": "true" if override else "false"}
            engine.run("live", steps=STEPS, overrides=arm)
            assert {bool(thread) for thread in threads[-STEPS:]} == {override}
        engine.finish()

    loader = DataLoader(
        Items(), batch_size=4, num_workers=1, collate_fn=collate_slow_to_pin, pin_memory=pinned
    )
    measure(loader, script, tmp_path, step)
    assert {bool(thread) for thread in threads[:2]} == {pinned}, "training goes on as it was"


@pytest.mark.parametrize("workers", [0, 2])
def test_error_of_pinning_is_answered(workers: int, tmp_path: Any, monkeypatch: Any) -> None:
    pretend_accelerator(monkeypatch)
    monkeypatch.setattr("cachebisect._job.pass_through.PASS_STEPS", 2)

    def script(engine: TestEngine) -> None:
        engine.greet()
        arm = {"kind": "replay", "boundary": 0}
        answer = engine.ask("run", arm=arm, steps=40, warmup_steps=0, seed=1)
        assert answer["type"] == "error" and answer["kind"] == "data", answer
        assert "no page can be locked" in answer["text"]
        engine.finish()

    measure(pinning_loader(workers, collate_fn=collate_fails_to_pin), script, tmp_path)


def test_python_of_pinning_grows_with_the_structure() -> None:
    few = pinning.python_seconds([torch.zeros(2)])
    many = pinning.python_seconds([{"x": torch.zeros(2)} for _ in range(3000)])
    assert 0 < few < many
    assert pinning.python_seconds(torch.zeros(2)) == 0
