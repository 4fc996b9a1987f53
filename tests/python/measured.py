"""Measures loaders in this process while a script plays the engine."""

from __future__ import annotations

from typing import Any

from cachebisect._engine.adapter import Adapter
from cachebisect._engine.messages import Connection
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._proxy import Proxy
from engine import TestEngine


def measure(
    loader: Any,
    script: Any,
    tmp_path: Any,
    step: Any = None,
    state: Any = (),
    own: Any = None,
) -> list[Any]:
    """Drives a training loop over `loader` while `script` plays the engine; the batches read.

    `own`: what serves the steps before the blocks in place of `loader`.
    """
    path = str(tmp_path / "socket")
    engine = TestEngine(path, script)
    connection = Connection.open(path)
    kept = KeptState(state)
    adapter = Adapter(connection, lambda w: Job(loader, kept, writes_batches=w))
    batches = []
    try:
        adapter.greet()
        for batch in Proxy(adapter, iter(own or loader)):
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
    chain = described["chain"]
    settling = chain["ring_prefetch"] if chain["keeps_queues"] else 0
    sizes = engine.ask("sizes", samples=8)
    cache = engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)["cache"]
    n = len(described["chain"]["stages"])
    assert len(sizes["item_bytes"]) == len(cache["item_bytes"]) == n + 1
    assert cache["samples"] >= 16
    for _ in range(2):
        engine.ask("begin_round")
        for entry in described["arms"]:
            for boundary in entry.get("boundaries", []):
                check(engine.run(entry["kind"], boundary=boundary), n, settling)
            for stage in entry.get("stages", []):
                check(engine.run("bypass", stage=stage), n, settling)
        if {"kind": "shadow"} in described["arms"]:
            check(engine.run("shadow"), n, settling)
        assert engine.ask("freshen", samples=8)["freshened"]
    assert engine.run(observed=False)["stages"] == []
    assert engine.ask("machine")["own_cpu_seconds"] > 0
    engine.finish()


def check(block: dict[str, Any], stages: int, settling: int) -> None:
    """`settling`: more untimed steps of the first block of an arm."""
    assert block["steps"] == 4 and block["warmup_steps"] in (2, 2 + settling)
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
