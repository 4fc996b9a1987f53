"""Replay equals live: where draws repeat, each boundary serves the same batches, bit by bit."""

from __future__ import annotations

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain import trees
from engine import TestEngine
from loaders import Compose, KeywordCompose
from measured import measure

LENGTH = 16


def draw_by(value: Any) -> None:
    """What is drawn next follows from `value`: a replay draws what the live sample drew."""
    seed = trees.digest(value)
    random.seed(seed)
    torch.manual_seed(seed)
    numpy.random.seed(seed)


class Noise:
    """Adds a random number of one of the three generators."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __call__(self, x: Any) -> Any:
        return x + self.draw(x)

    def draw(self, x: Any) -> float:
        draw_by(x)
        if self.source == "torch":
            return float(torch.rand(1))
        return random.random() if self.source == "random" else float(numpy.random.rand())


class NoiseInPlace(Noise):
    def __call__(self, x: Any) -> Any:
        return x.add_(self.draw(x))


class Flip:
    """Draws a different number of times from sample to sample."""

    def __call__(self, x: Any) -> Any:
        draw_by(x)
        for _ in range(random.randrange(3)):
            x = torch.flip(x, [0]) * float(torch.rand(1))
        return x


class KeywordNoise(Noise):
    def __call__(self, **data: Any) -> Any:
        return {**data, "image": data["image"] * self.draw(data["image"])}


class Drawn(Dataset):  # type: ignore[type-arg]
    """Draws before, between and after the calls of its members. `shape` of its samples; `seed` of
    their draws."""

    def __init__(self, members: list[Any], shape: str, seed: int) -> None:
        self.shape = shape
        self.seed = seed
        self.transform = Compose(members)
        self.keyword_transform = KeywordCompose([KeywordNoise("numpy")])

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> Any:
        draw_by((self.seed, index))
        x = torch.rand(4)
        if self.shape == "two views":
            return index, self.transform(x), self.transform(x + random.random())
        if self.shape == "keywords":
            drawn = self.keyword_transform(image=x, label=index)
            return index, drawn["image"]
        if self.shape == "dict":
            return {"index": index, "x": self.transform(x), "late": random.random()}
        return index, self.transform(x)


class DrawnTogether(Drawn):
    def __getitems__(self, indices: list[int]) -> Any:
        return [self[index] for index in indices]


def collate_with_noise(samples: Any) -> Any:
    draw_by(samples)
    batch = torch.utils.data.default_collate(samples)
    return {"batch": batch, "mixed": torch.randperm(len(samples))}


MEMBERS = [lambda s: Noise(s), lambda s: NoiseInPlace(s), lambda _: Flip()]


def random_loader(seed: int, workers: int) -> Any:
    choose = random.Random(seed)
    members = [
        choose.choice(MEMBERS)(choose.choice(["torch", "random", "numpy"]))
        for _ in range(choose.randint(1, 4))
    ]
    shape = choose.choice(["plain", "two views", "keywords", "dict"])
    dataset = choose.choice([Drawn, Drawn, DrawnTogether])(members, shape, seed)
    collate = choose.choice([None, collate_with_noise])
    return DataLoader(dataset, batch_size=4, num_workers=workers, collate_fn=collate)


def indices_in(batch: Any) -> Any:
    while isinstance(batch, dict):
        batch = batch.get("batch", batch.get("index"))
    return tuple((batch[0] if isinstance(batch, (list, tuple)) else batch).tolist())


@pytest.mark.parametrize("seed,workers", [*((s, 0) for s in range(16)), (16, 2), (17, 2)])
def test_replay_equals_live_at_every_boundary(seed: int, workers: int, tmp_path: Any) -> None:
    served: dict[int, list[Any]] = {}
    boundary = -1

    def script(engine: TestEngine) -> None:
        nonlocal boundary
        n = len(engine.greet()["chain"]["stages"])
        engine.ask("prepare", samples=LENGTH, host_bytes=None, device_bytes=None)
        for boundary in range(n + 1):
            engine.run(boundary=boundary, steps=LENGTH // 4 * 2, warmup=0)
        boundary = -1
        engine.finish()

    def step(batch: Any) -> None:
        if boundary >= 0:
            served.setdefault(boundary, []).append(trees.clone(batch))

    measure(random_loader(seed, workers), script, tmp_path, step)
    live = {indices_in(batch): batch for batch in served[0]}
    assert len(live) == LENGTH // 4 and len(served) >= 3
    for at, batches in served.items():
        assert {indices_in(batch) for batch in batches} == set(live), at
        for batch in batches:
            expected = live[indices_in(batch)]
            pairs = zip(trees.leaves(batch), trees.leaves(expected))
            assert all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in pairs), at


def test_draws_repeat_and_differ_between_samples_and_seeds() -> None:
    def values(seed: int) -> list[float]:
        dataset = Drawn([Noise("torch"), Noise("random"), Noise("numpy")], "plain", seed)
        return [float(dataset[index][1][0]) for index in range(LENGTH)]

    one, other = values(1), values(2)
    assert len(set(one + other)) == 2 * LENGTH
    assert one == values(1)
