"""A cache that is tried out is full, and serves nothing but what is in it."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader

from cachebisect._cache import trial
from cached_data import Jitter, Numbers, Scale


@pytest.mark.parametrize("workers", [0, 2])
def test_stages_before_the_cache_never_run(workers: int) -> None:
    kept = trial.filled(Numbers(Scale(), Jitter(), count=50), "transforms[0]")
    kept.dataset.transform.transforms[0].factor = 10**6  # Would be seen.
    loader = DataLoader(kept, batch_size=5, shuffle=True, num_workers=workers)
    for x, _labels in loader:
        assert torch.all(x < 3 * 50)
    if workers == 0:
        assert (kept.hits, kept.misses) == (50, 0)


def test_any_index_is_served() -> None:
    kept = trial.filled(Numbers(Scale(), count=10), "sample")
    assert {float(kept[key][0][0]) % 3 for key in (0, 9, 123456, "name", (1, 2))} == {0.0}


def test_a_trial_ends_with_its_folder() -> None:
    kept = trial.filled(Numbers(Scale()), "sample")
    path = kept._folder.path  # type: ignore[union-attr]
    assert path.exists()
    kept.close()
    assert not path.exists()


@pytest.mark.parametrize(
    ("dataset", "after", "words"),
    [
        (Numbers(Jitter()), "sample", "makes another output in every epoch"),
        (Numbers(Scale()), "transforms[4]", "is no stage"),
        (Numbers(Scale(), width=5_000_000), "sample", "a sample takes"),
    ],
)
def test_what_cannot_be_cached_is_refused(
    dataset: Any, after: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "most_memory", lambda: 32e6)
    with pytest.raises(ValueError) as raised:
        trial.filled(dataset, after)
    assert words in str(raised.value)


def test_without_shared_memory_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "most_memory", lambda: 1e6)
    with pytest.raises(ValueError, match="not free"):
        trial.filled(Numbers(Scale()), "sample")
