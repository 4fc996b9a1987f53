"""Subclasses of DataLoader are bisected or measured as a whole; the loop gets their batches."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

LOOP = """
for epoch in range(4):
    for x in loader:
        step(x)
print("end", flush=True)
"""

# As ultralytics 8.4: the iterator is made by the constructor and lives for ever.
CALLS_GET_ITERATOR = """
class Repeat:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)

class Infinite(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
        self.iterator = self._get_iterator()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)

loader = Infinite(Items(), batch_size=4)
"""

# As timm's MultiEpochsDataLoader.
KEEPS_ITERATOR = CALLS_GET_ITERATOR.replace("self._get_iterator()", "super().__iter__()")

# As PyG's NodeLoader: the iterator changes each batch.
CHANGES_BATCHES = """
class Changed:
    def __init__(self, own):
        self.own = own

    def __iter__(self):
        return self

    def __next__(self):
        return {"x": next(self.own)}

class NodeLoader(DataLoader):
    def _get_iterator(self):
        return Changed(super()._get_iterator())

loader = NodeLoader(Items(), batch_size=4)
train_step = step

def step(batch):
    assert set(batch) == {"x"}
    train_step(batch["x"])
"""

# As prefetch_generator's DataLoaderX and MONAI's ThreadDataLoader.
READS_IN_A_THREAD = """
import queue, threading

class Background(threading.Thread):
    def __init__(self, own):
        super().__init__(daemon=True)
        self.queue = queue.Queue(1)
        self.own = own
        self.start()

    def run(self):
        for x in self.own:
            self.queue.put(x)
        self.queue.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        x = self.queue.get()
        if x is None:
            raise StopIteration
        return x

class DataLoaderX(DataLoader):
    def __iter__(self):
        return Background(super().__iter__())

loader = DataLoaderX(Items(), batch_size=4)
"""

# Its __iter__ is a generator that never asks DataLoader for an iterator.
BY_ITSELF = """
class ByItself(DataLoader):
    def __iter__(self):
        for indices in self.batch_sampler:
            yield self.collate_fn([self.dataset[i] for i in indices])

loader = ByItself(Items(), batch_size=4)
"""

# The first of each pair is dropped: what the loop gets is made of what DataLoader gives.
AROUND = """
class EverySecond(DataLoader):
    def __iter__(self):
        for number, x in enumerate(super().__iter__()):
            if number % 2:
                yield x

loader = EverySecond(Items(), batch_size=4)
"""

BISECTED = ["read Items.__getitem__", "collate_fn default_collate"]


@pytest.mark.parametrize(
    "text,stages",
    [
        (CALLS_GET_ITERATOR, BISECTED),
        (KEEPS_ITERATOR, BISECTED),
        (AROUND, BISECTED),
        (CHANGES_BATCHES, ["loader NodeLoader"]),
        (READS_IN_A_THREAD, ["loader DataLoaderX"]),
        (BY_ITSELF, ["loader ByItself"]),
    ],
)
def test_a_subclass_is_measured(text: str, stages: list[str], tmp_path: Any) -> None:
    measure(HEAD + text + LOOP, stages, tmp_path)


def measure(text: str, stages: list[str], tmp_path: Any, fresh: bool = False) -> list[Any]:
    """Every boundary once; then the script goes on to its end. Returns the notes."""
    notes: list[Any] = []

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        names = [stage["name"] for stage in described["chain"]["stages"]]
        assert [name for name in names if not name.startswith("sampler")] == stages
        notes.extend(described["notes"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.ask("begin_round")
        for boundary in range(len(names) + 1):
            block = engine.run(boundary=boundary, steps=8)
            assert (block["steps"], block["void"]) == (8, False)
        engine.finish()

    done = run_script(tmp_path, script, text, fresh=fresh)
    assert done.returncode == 0 and done.stdout.endswith("end\n"), done.stderr
    return notes


def test_stateful_data_loader_is_bisected_as_a_data_loader(tmp_path: Any) -> None:
    pytest.importorskip("torchdata.stateful_dataloader")
    text = """
from torchdata.stateful_dataloader import StatefulDataLoader
loader = StatefulDataLoader(Items(), batch_size=4, num_workers=1)
"""
    measure(HEAD + text + LOOP, [*BISECTED, "transfer"], tmp_path)


def test_monai_thread_data_loader_is_measured_as_a_whole(tmp_path: Any) -> None:
    pytest.importorskip("monai")
    text = """
from monai.data import ThreadDataLoader
loader = ThreadDataLoader(Items(), batch_size=4, num_workers=0)
"""
    measure(HEAD + text + LOOP, ["loader ThreadDataLoader"], tmp_path)
