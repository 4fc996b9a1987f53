"""What measuring takes is said before it is taken, if it is much of what is free."""

from __future__ import annotations

import types
from typing import Any

import pytest

from cachebisect._job import needs

LOADER = types.SimpleNamespace(num_workers=4, prefetch_factor=2)
OWN = types.SimpleNamespace(_workers=[])


def test_nothing_is_said_of_what_is_plenty() -> None:
    assert needs.needs_of(LOADER, OWN, 1000, 3) == []
    assert needs.needs_of(types.SimpleNamespace(num_workers=0), OWN, 1 << 62, 1 << 40) == []


def test_a_small_shared_memory_is_named_with_its_remedy(monkeypatch: Any) -> None:
    monkeypatch.setattr(needs, "free_shared_memory", lambda: 64e6)
    (text,) = needs.needs_of(LOADER, OWN, 20_000_000, 3)
    assert text.startswith("measuring starts a second set of 4 workers: about 0.16 GB of /dev/shm")
    assert "of which 0.06 are free" in text and "--shm-size" in text


def test_memory_and_descriptors(monkeypatch: Any) -> None:
    monkeypatch.setattr(needs, "free_memory", lambda: 3e9)
    monkeypatch.setattr(needs, "_free_descriptors", lambda: 100.0)
    monkeypatch.setattr(needs.facts, "private_bytes", lambda _pids: 1e9)
    texts = needs.needs_of(LOADER, OWN, 1000, 600)
    assert "about 4.00 GB of memory, of which 3.00 are free" in texts[0]
    assert "about 4800 file descriptors" in texts[1] and "ulimit -n" in texts[1]


def test_a_machine_that_tells_nothing(monkeypatch: Any) -> None:
    for name in ("free_memory", "free_shared_memory", "_free_descriptors"):
        monkeypatch.setattr(needs, name, lambda: None)
    assert needs.needs_of(LOADER, OWN, 1 << 50, 1 << 50) == []


def measured(**fields: Any) -> Any:
    """A loader whose workers keep 8 batches asked for."""
    shadow = types.SimpleNamespace(in_flight=8, knows_what_is_ready=True)
    own = types.SimpleNamespace(pin_memory=False)
    return types.SimpleNamespace(**{"shadow": shadow, "own": own, **fields})


def test_queues_are_kept_where_those_of_all_arms_fit(monkeypatch: Any) -> None:
    for name in ("free_memory", "free_shared_memory", "_free_descriptors"):
        monkeypatch.setattr(needs, name, lambda: None)
    assert needs.queues_fit(measured(), 4, 1000, 2)
    monkeypatch.setattr(needs, "_free_descriptors", lambda: 4.0 * 8 * (4 + 4) * 2)
    assert needs.queues_fit(measured(), 4, 1000, 2)
    assert not needs.queues_fit(measured(), 4, 1000, 3)
    monkeypatch.setattr(needs.pinning, "happens", lambda _loader: True)
    assert needs.queues_fit(measured(), 4, 1000, 3)  # pinned batches hold none
    monkeypatch.setattr(needs, "free_memory", lambda: 4.0 * 8 * (4 + 4) * 999)
    assert not needs.queues_fit(measured(), 4, 1000, 2)


def test_queues_out_of_order_are_not_kept() -> None:
    assert not needs.queues_fit(measured(shadow=None), 4, 1000, 2)
    late = types.SimpleNamespace(in_flight=8, knows_what_is_ready=False)
    assert not needs.queues_fit(measured(shadow=late), 4, 1000, 2)


@pytest.mark.parametrize("world,local,arms", [(2, 2, 2), (2, 1, 6), (64, 64, 16), (64, 8, 48)])
def test_ranks_keep_more_queues_and_share_the_memory(
    world: int, local: int, arms: int, monkeypatch: Any
) -> None:
    for name in ("free_shared_memory", "_free_descriptors"):
        monkeypatch.setattr(needs, name, lambda: None)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", str(world))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(local))
    for slack, fits in ((0.0, True), (1.0, False)):
        free = 4.0 * local * 8 * (4 + 4 + arms) * 1000 - slack
        monkeypatch.setattr(needs, "free_memory", lambda free=free: free)
        assert needs.queues_fit(measured(), 4, 1000, 2) is fits
