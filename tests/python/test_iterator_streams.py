"""Whatever is measured of an iterator, and whenever: training gets what it would have got."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))

from cachebisect._chain.named_source import how_to_reopen
from cachebisect._chain.restart import Restarting
from cachebisect._follow.named_iterator import NamedIterator

EPOCHS = 5
LENGTH = 9


class Subscriber:
    """Measures `after` batches of training, once, by taking `batches`."""

    def __init__(self, after: int, batches: int) -> None:
        self.after = after
        self.batches = batches
        self.given = 0

    def opens(self, _loader: Any) -> bool:
        return False

    def iterator(self, loader: Any, original: Any, _level: Any) -> Iterator[Any]:
        own = original(loader)
        return self._watched(own, how_to_reopen(loader, own, original))

    def _watched(self, own: Iterator[Any], reopen: Any) -> Iterator[Any]:
        while True:
            if self.given == self.after:
                self._measure(reopen)
            try:
                batch = next(own)
            except StopIteration:
                return
            self.given += 1
            yield batch

    def _measure(self, reopen: Any) -> None:
        class Reopened:
            def __iter__(self) -> Any:
                return reopen()

        self.after = -1
        measured = Restarting(Reopened())
        for _ in range(self.batches):
            measured.next()


def loops(module: Any) -> dict[str, Any]:
    reader = itertools.count()
    return {
        "Own": module.Own(),
        "Skipping": module.Skipping(),
        "NeedsReset": module.NeedsReset(),
        "ReadsAhead": module.ReadsAhead(),
        "from_reader": lambda: module.from_reader(reader),
    }


def trained(loop: Any) -> list[Any]:
    """The numbers that a loop of EPOCHS gets, each with its epoch."""
    got = []
    for epoch in range(EPOCHS):
        for batch in loop() if callable(loop) else loop:
            number = batch[0]["label"] if isinstance(batch, list) else batch[-1]
            got.append((epoch, int(number)))
        if hasattr(loop, "reset"):
            loop.reset()
    return got


@pytest.fixture()
def module(monkeypatch: Any) -> Any:
    """own_batches, anew: what is patched is gone after the test."""
    monkeypatch.delitem(sys.modules, "own_batches", raising=False)
    fresh = importlib.import_module("own_batches")
    monkeypatch.setitem(sys.modules, "own_batches", fresh)

    monkeypatch.setattr(fresh, "LENGTH", LENGTH)
    return fresh


@pytest.mark.parametrize(
    "kind,named",
    [
        ("Own", "Own"),
        ("Skipping", "Own"),
        ("Skipping", "Skipping"),
        ("NeedsReset", "NeedsReset"),
        ("ReadsAhead", "ReadsAhead"),
        ("from_reader", "from_reader"),
    ],
)
def test_training_gets_all_batches(kind: str, named: str, module: Any) -> None:
    untouched = trained(loops(module)[kind])
    assert len(untouched) > 2 * LENGTH
    iterator = NamedIterator(f"own_batches:{named}", keeps=True)
    for after, batches in itertools.product(range(1, 2 * LENGTH), range(0, 4 * LENGTH, 2)):
        subscriber = Subscriber(after, batches)
        iterator.follow(subscriber)
        assert trained(loops(module)[kind]) == untouched, (after, batches)
        assert subscriber.after == -1
