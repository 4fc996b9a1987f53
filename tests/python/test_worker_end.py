"""Workers that are stuck, or end while they are looked at."""

from __future__ import annotations

import multiprocessing
import os
import signal
import types
from typing import Any

import pytest

pytest.importorskip("torch")

from cachebisect._worker.worker_end import interrupt_stuck


class StuckArea:
    """One worker, which does not return from its only task."""

    rows = 1

    def last_done(self, _worker: int) -> int:
        return 0

    def pids(self) -> list[int]:
        return [4711]


@pytest.mark.parametrize("ends_first", [False, True])
def test_a_stuck_worker_is_interrupted_unless_it_has_ended(
    ends_first: bool, monkeypatch: Any
) -> None:
    sent: list[tuple[int, int]] = []

    def kill(pid: int, number: int) -> None:
        sent.append((pid, number))
        if ends_first:
            raise ProcessLookupError

    monkeypatch.setattr("cachebisect._worker.worker_end._PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(os, "kill", kill)
    worker = types.SimpleNamespace(pid=4711)
    monkeypatch.setattr(multiprocessing, "active_children", lambda: [worker])
    area: Any = StuckArea()
    interrupt_stuck(area, issued=1)
    assert sent == [(4711, signal.SIGINT)]
