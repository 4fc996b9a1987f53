"""What a job lets the engine run."""

from __future__ import annotations

from typing import Any

from .._chain.description import LOADER, NODE, PIN, TRANSFER, Chain
from .loaders import MeasuredLoader
from .unseen import unseen_boundaries


def arms(loader: MeasuredLoader, chain: Chain) -> list[dict[str, Any]]:
    """`arms` of docs/extend/protocol.md."""
    found: list[dict[str, Any]] = [{"kind": "replay", "boundaries": list(range(chain.last + 1))}]
    if loader.nodes is not None:
        members = [n for n, s in enumerate(chain.stages, start=1) if s.place in (NODE, LOADER)]
        bypassed = list(filter(loader.nodes.can_bypass, members))
        found.append({"kind": "bypass", "stages": bypassed})
    if loader.shadow is None:
        return found
    # The others cannot be skipped alone.
    stages = enumerate(chain.stages, start=1)
    bypassed = [number for number, stage in stages if stage.place not in (TRANSFER, PIN)]
    found.append({"kind": "bypass", "stages": bypassed})
    if loader.shadow.knows_what_is_ready:
        found.append({"kind": "shadow"})
    found.append({"kind": "live"})
    unseen = unseen_boundaries(loader, chain)
    if unseen:
        found.append({"kind": "unseen", "boundaries": unseen})
    return found
