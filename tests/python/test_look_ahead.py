"""Iterable datasets whose stages run ahead of the samples that they give."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, IterableDataset

from engine import TestEngine
from loaders import Compose, Member
from measured import every_arm, measure
from readers import CASES

LENGTH = 2000


class Shuffled(IterableDataset):  # type: ignore[type-arg]
    """A shuffle buffer of `early` items before the transform and one of `late` behind it."""

    def __init__(self, early: int = 0, late: int = 0, together: int = 1) -> None:
        self.transform = Compose([Member()])
        self.early = early
        self.late = late
        self.together = together

    def __iter__(self) -> Any:
        items = (torch.full((4,), float(index)) for index in range(LENGTH))
        changed = (self.transform(item) for item in shuffled(items, self.early))
        samples = shuffled(changed, self.late)
        if self.together == 1:
            yield from samples
        for batch in zip(*[samples] * self.together):
            yield torch.stack(batch)


def shuffled(items: Any, size: int) -> Any:
    buffer: list[Any] = []
    for item in items:
        buffer.append(item)
        if len(buffer) > size:
            yield buffer.pop(random.randrange(len(buffer)))


def described(loader: Any, tmp_path: Path) -> Any:
    found: dict[str, Any] = {}

    def script(engine: TestEngine) -> None:
        answer = engine.greet()
        found.update(answer["chain"], notes=answer["notes"])
        engine.finish()

    measure(loader, script, tmp_path)
    return found


def member_names(chain: Any) -> list[str]:
    return [stage["name"] for stage in chain["stages"][1:] if "collate" not in stage["name"]]


@pytest.mark.parametrize("size", [4, 20])
@pytest.mark.parametrize("batch_size,together", [(4, 1), (None, 8)])
def test_a_stage_before_a_shuffle_buffer_belongs_to_read(
    size: int, batch_size: Any, together: int, tmp_path: Path
) -> None:
    loader = DataLoader(Shuffled(late=size * together * 4, together=together), batch_size)
    chain = described(loader, tmp_path)
    assert member_names(chain) == []
    assert any("transforms[0] Member: part of `read`" in note for note in chain["notes"])


@pytest.mark.parametrize("batch_size,together", [(4, 1), (1, 1), (None, 8)])
def test_a_stage_behind_a_shuffle_buffer_is_one(
    batch_size: Any, together: int, tmp_path: Path
) -> None:
    loader = DataLoader(Shuffled(early=20, together=together), batch_size)
    (tmp_path / "arms").mkdir()
    chain = described(loader, tmp_path)
    assert member_names(chain) == ["transforms[0] Member"]
    assert not any("part of `read`" in note for note in chain["notes"])
    if batch_size != 1:
        assert measure(loader, every_arm, tmp_path / "arms")


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("late", [False, True])
def test_decoding_in_a_web_dataset(workers: int, late: bool, tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    CASES["webdataset.decode"].make(str(tmp_path / "data"))
    shards = [str(tmp_path / "data.tar")] * 4
    data = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    data = data.repeat().decode() if late else data.repeat().shuffle(20).decode()
    data = data.shuffle(20) if late else data
    loader = DataLoader(
        data.to_tuple("npy", "cls").with_epoch(LENGTH), batch_size=4, num_workers=workers
    )
    names = member_names(described(loader, tmp_path))
    assert ("webdataset.decode" in names) is not late
    (tmp_path / "arms").mkdir()
    for images, _ in measure(loader, every_arm, tmp_path / "arms"):
        assert images.dtype == torch.uint8 and images.ndim == 4
