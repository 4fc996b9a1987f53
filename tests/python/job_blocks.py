"""Arms of a Job, and short blocks of them."""

from __future__ import annotations

from typing import Any

from cachebisect._job.job import Job


def live(**overrides: str) -> dict[str, Any]:
    arm = {"kind": "live", "boundary": 0, "stage": 0, "observed": True, "cache_samples": 0}
    return {**arm, "overrides": overrides}


def run(job: Job, arm: dict[str, Any]) -> list[Any]:
    """The batches of a short block."""
    block = job.begin_block({"arm": arm, "steps": 2, "warmup_steps": 1})
    batches = []
    while not block.enter():
        batches.append(block.take())
    block.end()
    assert block.result()["device_idle_share"] is None
    return batches
