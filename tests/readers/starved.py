"""A pipeline that starves: each sample is waited for."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "build" / "release" / "bin" / "cachebisect"


def starved(name: str, wait_us: int) -> str:
    """JSON of a chain whose step takes 2 ms per batch of 16, emulated."""
    return json.dumps(
        {
            "name": name,
            "batch_size": 16,
            "workers": 1,
            "stages": [
                {"use": "synthetic.read", "bytes": 1024, "samples": 100000},
                {"use": "synthetic.wait", "name": "slow", "us": wait_us},
                {"use": "collate.stack"},
                {"use": "copy.device", "prefetch": 2},
            ],
            "train": {"kind": "emulated"},
            "device": "emulated",
            "emulate": {"step_ms": 2},
        }
    )
