"""Blocks of a torchdata.nodes pipeline, as the tests ask for them."""

from __future__ import annotations

from typing import Any

from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from job_blocks import live


def replay(boundary: int) -> dict[str, Any]:
    return {**live(), "kind": "replay", "boundary": boundary}


def bypass(stage: int) -> dict[str, Any]:
    return {**live(), "kind": "bypass", "stage": stage}


def described(job: Job) -> tuple[list[str], dict[str, Any]]:
    """The names of the stages, and all that is described."""
    found = job.describe(PassThrough(), [])
    return [stage["name"] for stage in found["chain"]["stages"]], found


def numbers(batches: list[Any]) -> list[list[float]]:
    return [[float(row[0]) for row in batch] for batch in batches]
