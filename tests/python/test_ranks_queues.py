"""Several ranks take the untimed steps that the engine says, and keep queues if all of them can."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from engine import TestEngine
from loaders import Compose, Items, Member
from measured import measure

SETTLING = 3


@pytest.fixture(autouse=True)
def of_two(monkeypatch: Any) -> None:
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "2"), ("LOCAL_WORLD_SIZE", "2")):
        monkeypatch.setenv(name, value)


def loader() -> Any:
    data = Items(Compose([Member(100)]))
    return torch.utils.data.DataLoader(data, batch_size=4, num_workers=2)


def prepare(engine: TestEngine, **more: Any) -> dict[str, Any]:
    described = engine.greet()
    engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None, **more)
    return described


def test_a_rank_settles_as_long_as_the_others_whatever_it_serves(tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        described = prepare(engine, keeps_queues=True)
        assert described["chain"]["keeps_queues"]
        assert described["settling_steps"] == described["chain"]["ring_prefetch"]
        last = len(described["chain"]["stages"])
        for settling in (SETTLING, 0):
            for arm in ({"boundary": 0}, {"boundary": last}, {"boundary": 0, "ranks": [0, 1]}):
                block = engine.run(settling=settling, **arm)
                assert block["warmup_steps"] == 2 + settling
        engine.finish()

    measure(loader(), script, tmp_path)


@pytest.mark.parametrize(
    "asked,kept", [({"keeps_queues": True}, True), ({"keeps_queues": False}, False), ({}, False)]
)
def test_a_rank_keeps_its_queues_if_all_do(asked: Any, kept: bool, tmp_path: Any) -> None:
    warmups: list[int] = []

    def script(engine: TestEngine) -> None:
        prepare(engine, **asked)
        warmups.extend(engine.run(boundary=0)["warmup_steps"] for _ in range(2))
        engine.finish()

    measure(loader(), script, tmp_path)
    # Without the engine's figure, a queue that is kept takes its own untimed steps once.
    assert warmups == ([2 + 4, 2] if kept else [2, 2])
