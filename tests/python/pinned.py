"""Batches that pin themselves slowly, and an accelerator that is not there."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import torch

PIN_SECONDS = 0.004


class SlowToPin:
    """A batch type with a `pin_memory()` of its own, which DataLoader calls."""

    def __init__(self, x: Any, index: Any, thread: str = "") -> None:
        self.x = x
        self.index = index
        self.thread = thread
        """The thread that has pinned it; empty before."""

    def pin_memory(self) -> SlowToPin:
        time.sleep(PIN_SECONDS)
        training = threading.current_thread() is threading.main_thread()
        return SlowToPin(self.x.clone(), self.index, "training" if training else "pin")


def collate_slow_to_pin(samples: Any) -> SlowToPin:
    return SlowToPin(torch.stack([x for x, _ in samples]), [i for _, i in samples])


class FailsToPin(SlowToPin):
    def pin_memory(self) -> SlowToPin:
        if self.x.max() >= 60:
            raise OSError("no page can be locked")
        return super().pin_memory()


def collate_fails_to_pin(samples: Any) -> FailsToPin:
    return FailsToPin(torch.stack([x for x, _ in samples]), [i for _, i in samples])


def pretend_accelerator(monkeypatch: Any) -> None:
    """DataLoaders of this test start their pin threads."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        pytest.skip("torch before 2.6 has no torch.accelerator to stand in for")
    monkeypatch.setattr(accelerator, "is_available", lambda: True)
    monkeypatch.setattr(accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(accelerator, "current_device_index", lambda: 0)
    monkeypatch.setattr(accelerator, "set_device_index", lambda _index: None)
