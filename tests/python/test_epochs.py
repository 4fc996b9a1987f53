"""Epochs of a script that ends after the verdict: each has as many batches as without measuring."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import HERE, STEP, run_script

BEGIN = f"""{STEP}
import sys
sys.path.insert(0, {str(HERE)!r})
from loaders import Items

class Endless:
    def __len__(self):
        return 8
    def __iter__(self):
        while True:
            yield from ([i] for i in range(8))

class Own:
    def __len__(self):
        return 8
    def __iter__(self):
        yield from ([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3] for i in range(8))

class Multi(DataLoader):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.batches = super().__iter__()
    def __iter__(self):
        for _ in range(8):
            yield next(self.batches)
"""

COUNTED = """
for epoch in range(1000):
    for index, (x, _) in enumerate(loader):
        assert index < len(loader)
        step(x)
    assert index == len(loader) - 1
"""

BODIES = {
    "a loader": f"""
loader = DataLoader(Items(length=128), batch_size=4)
{COUNTED}
""",
    "workers that persist": f"""
loader = DataLoader(Items(length=128), batch_size=4, num_workers=1, persistent_workers=True)
{COUNTED}
""",
    "epochs that end where measuring begins": f"""
loader = DataLoader(Items(length=80), batch_size=4)
{COUNTED}
""",
    "a batch sampler of the script": """
loader = DataLoader(Items(length=128), batch_sampler=Own())
for epoch in range(1000):
    assert sum(step(x) is None for x, _ in loader) == 8
""",
    "an iterator that is asked again": """
loader = DataLoader(Items(length=128), batch_size=4)
batches, ends = iter(loader), [0]
for index in range(100000):
    try:
        x, _ = next(batches)
    except StopIteration:
        ends.append(index)
        batches = iter(loader)
        x, _ = next(batches)
    assert index - ends[-1] < 32
    step(x)
""",
    "the same loader twice in each step": """
loader = DataLoader(Items(length=128), batch_size=4)
for epoch in range(1000):
    assert sum(step(x + y) is None for (x, _), (y, _) in zip(loader, loader)) == 32
""",
    "a loader made anew for each epoch": """
data = Items(length=320)
for epoch in range(1000):
    loader = DataLoader(data, batch_size=4)
    assert sum(step(x) is None for x, _ in loader) == 80
""",
    "a loader made anew for each short epoch": """
data = Items(length=80)
for epoch in range(1000):
    loader = DataLoader(data, batch_size=4)
    assert sum(step(x) is None for x, _ in loader) == 20
""",
    "a loader made anew that is longer than the one before": """
short, long = Items(length=80), Items(length=120)
for epoch in range(1000):
    data = short if epoch < 2 else long
    loader = DataLoader(data, batch_size=4)
    assert sum(step(x) is None for x, _ in loader) == len(data) // 4
""",
    "a sampler without end in a subclass": """
loader = Multi(Items(length=128), batch_sampler=Endless())
for epoch in range(10000):
    assert sum(step(x) is None for x, _ in loader) == 8
""",
    "a loader without a length": """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            yield torch.zeros(4)
for index, x in enumerate(DataLoader(Stream(), batch_size=4)):
    step(x)
""",
}


def blocks_of(blocks: list[Any], then: str = "exit") -> Any:
    def script(engine: TestEngine) -> None:
        assert engine.greet()["chain"]["batches_per_step"] == 1
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for _ in range(6):
            blocks.append(engine.run(steps=12))
        engine.ask("finish", then=then, exit_code=7, text="")

    return script


@pytest.mark.parametrize("name", BODIES)
def test_an_epoch_ends_where_it_always_does(name: str, monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_THEN", "exit")
    blocks: list[Any] = []
    done = run_script(tmp_path, blocks_of(blocks), BEGIN + BODIES[name])
    assert done.returncode == 7, done.stderr
    assert len(blocks) == 6 and not any(block["void"] for block in blocks)


def test_a_script_that_goes_on_keeps_its_epochs(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_THEN", "continue")
    text = """
loader = DataLoader(Items(length=128), batch_size=4)
counts = [sum(step(x) is None for x, _ in loader) for epoch in range(4)]
print(counts)
"""
    done = run_script(tmp_path, blocks_of([], "continue"), BEGIN + text)
    assert done.returncode == 0, done.stderr
    counts = eval(done.stdout)
    assert counts[:1] + counts[2:] == [32] * 3 and counts[1] > 32 + 6 * 12


ANOTHER_DATASET = """
for epoch in range(1000):
    loader = DataLoader(Items(length=96), batch_size=4)
    assert sum(step(x) is None for x, _ in loader) == 24
"""


LONGER_EPOCH = """
loader = DataLoader(Items(length=16), batch_size=4)
for epoch in range(1000):
    for index, (x, _) in enumerate(loader):
        step(x)
        while index > 10:
            step(torch.zeros(4))
"""


@pytest.mark.parametrize("text,steps", [(ANOTHER_DATASET, 12), (LONGER_EPOCH, 4000)])
def test_a_script_that_leaves_its_loader_is_told_what_to_do(
    text: str, steps: int, monkeypatch: Any, tmp_path: Any
) -> None:
    monkeypatch.setenv("CACHEBISECT_THEN", "exit")
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        engine.send(
            "run", arm={"kind": "replay", "boundary": 0, "stage": 0, "overrides": {},
                        "observed": True, "cache_samples": 0},
            steps=steps, warmup_steps=2, seed=1, groups=1, max_seconds=0, profile=False,
        )  # fmt: skip
        answers.append(engine.answer())
        engine.ask("finish", then="exit", exit_code=7, text="")

    done = run_script(tmp_path, script, BEGIN + text)
    assert done.returncode == 7, done.stderr
    assert answers[0]["type"] == "error", answers
    assert "make the dataset once" in answers[0]["text"], answers


def test_an_epoch_that_is_shorter_than_a_block_goes_on_until_the_block_ends(
    monkeypatch: Any, tmp_path: Any
) -> None:
    """Workers prefetch more batches than an epoch of this script has."""
    monkeypatch.setenv("CACHEBISECT_THEN", "exit")
    blocks: list[Any] = []
    text = """
loader = DataLoader(Items(length=16), batch_size=4, num_workers=2, prefetch_factor=4)
counts = []
try:
    for epoch in range(1000):
        counts.append(sum(step(x) is None for x, _ in loader))
finally:
    print(counts)
"""
    done = run_script(tmp_path, blocks_of(blocks), BEGIN + text)
    assert done.returncode == 7, done.stderr
    assert not any(block["void"] for block in blocks)
    assert all(block["steps"] == 12 for block in blocks)
    counts = eval(done.stdout)
    # Epochs end between blocks: some are as they were, others as long as a block.
    assert counts[0] == 4 and max(counts) > 12
