"""A pipeline of torchdata.nodes whose members count their calls."""

from __future__ import annotations

import random
import time
from typing import Any

import torch
from torchdata import nodes

BATCH = 4
MEMBERS = [
    "IterableWrapper range", "Mapper read", "Shuffler (shuffle buffer 5)",
    "ParallelMapper decode (look-ahead 4)", "Batcher 4", "Mapper collate",
    "Prefetcher (look-ahead 2)",
]  # fmt: skip
"""The names of the stages that it is."""


class Shuffler(nodes.BaseNode):  # type: ignore[misc]
    """As users write it: `reset` empties the buffer that it has."""

    def __init__(self, source: Any, buffer_size: int = 5) -> None:
        super().__init__()
        self.source = source
        self.buffer_size = buffer_size
        self.buffer: list[Any] = []
        self.draws = random.Random(3)

    def reset(self, initial_state: Any = None) -> None:
        super().reset(initial_state)
        self.buffer.clear()
        self.source.reset(None if initial_state is None else initial_state["source"])

    def next(self) -> Any:
        while len(self.buffer) < self.buffer_size:
            try:
                self.buffer.append(next(self.source))
            except StopIteration:
                break
        if not self.buffer:
            raise StopIteration
        return self.buffer.pop(self.draws.randrange(len(self.buffer)))

    def get_state(self) -> Any:
        return {"source": self.source.state_dict()}


class Calls:
    """Counts those of each member; a member may wait. `waits`: seconds by its name. `noise`: a
    member with state, if there is one."""

    def __init__(self, noise: Any = None, **waits: float) -> None:
        self.noise = noise
        self.waits = waits
        self.counts = dict.fromkeys(("read", "decode", "collate"), 0)

    def note(self, name: str) -> None:
        self.counts[name] += 1
        time.sleep(self.waits.get(name, 0.0))

    def loader(self, source: Any = None, length: int = 4000) -> Any:
        def read(index: Any) -> Any:
            self.note("read")
            return torch.full((2,), float(index))

        def decode(item: Any) -> Any:
            self.note("decode")
            return item * 2

        def collate(items: Any) -> Any:
            self.note("collate")
            return torch.stack(items)

        node = source or nodes.IterableWrapper(range(length))
        node = nodes.Mapper(node, read)
        node = Shuffler(nodes.Mapper(node, self.noise) if self.noise is not None else node)
        node = nodes.ParallelMapper(node, decode, num_workers=2)
        node = nodes.Mapper(nodes.Batcher(node, BATCH), collate)
        return nodes.Loader(nodes.Prefetcher(node, 2))

    def settle(self) -> dict[str, int]:
        """The counts, once what was asked for in advance is made."""
        before: dict[str, int] = {}
        while before != self.counts:
            before = dict(self.counts)
            time.sleep(0.1)
        return before
