"""What the engine is told of a CUDA device: its memory, and how fast it takes copies."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._chain import facts
from cachebisect._chain.copy_rate import BYTES, PASSES, pinned_copy_gb_per_s


class Cuda:
    """Stands in for torch and torch.cuda: a device that takes a copy in so many milliseconds, of
    which it tells by events."""

    uint8 = torch.uint8
    frombuffer = staticmethod(torch.frombuffer)

    def __init__(self, milliseconds: list[float], fails: str = "") -> None:
        self.cuda = self
        self.milliseconds = list(milliseconds)
        self.fails = fails
        self.did: list[str] = []
        self.locked: set[int] = set()
        self.now = 0.0
        self.free, self.capturing = 1 << 40, False

    def note(self, what: str) -> None:
        self.did.append(what)
        if what == self.fails:
            raise RuntimeError(f"CUDA error: {what}")

    @contextmanager
    def device(self, _device: Any) -> Any:
        yield

    def is_current_stream_capturing(self) -> bool:
        return self.capturing

    def mem_get_info(self, _device: Any) -> tuple[int, int]:
        self.note("memory")
        return self.free, 1 << 41

    def get_device_properties(self, _device: Any) -> Any:
        self.note("properties")
        return SimpleNamespace(total_memory=80e9)

    def get_device_name(self, _device: Any) -> str:
        return "NVIDIA Stub"

    def cudart(self) -> Any:
        return self

    def cudaHostRegister(self, address: int, size: int, _flags: int) -> int:
        self.locked.add(address)
        assert size == BYTES
        return 2 if self.fails == "lock" else 0

    def cudaHostUnregister(self, address: int) -> int:
        self.locked.remove(address)
        return 0

    def check_error(self, code: int) -> None:
        if code:
            self.locked.clear()
            raise RuntimeError("out of memory")

    def empty(self, size: int, dtype: Any, device: Any) -> Any:
        self.note("allocate")
        return SimpleNamespace(copy_=self.copy)

    def copy(self, source: Any, non_blocking: bool) -> None:
        assert source.data_ptr() in self.locked and non_blocking
        self.note("copy")
        self.now += self.milliseconds.pop(0)

    def Stream(self, _device: Any) -> Any:
        return SimpleNamespace(wait_stream=lambda stream: self.note(f"wait for {stream}"))

    def current_stream(self, _device: Any) -> str:
        return "the program"

    @contextmanager
    def stream(self, _stream: Any) -> Any:
        yield

    def Event(self, enable_timing: bool) -> Any:
        assert enable_timing
        event = SimpleNamespace(at=0.0, synchronize=lambda: self.note("synchronize"))
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda later: later.at - event.at
        return event


DEVICE = SimpleNamespace(type="cuda")


def stubbed(monkeypatch: pytest.MonkeyPatch, cuda: Cuda) -> Cuda:
    monkeypatch.setitem(sys.modules, "torch", cuda)
    return cuda


def test_the_fastest_of_a_few_copies_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = BYTES / 10e9 * 1e3
    cuda = stubbed(monkeypatch, Cuda([9 * slow, slow, slow / 2, slow, slow, slow]))
    assert pinned_copy_gb_per_s(DEVICE) == pytest.approx(20)
    assert cuda.did.count("copy") == cuda.did.count("synchronize") == PASSES
    # What the program has enqueued may still use the memory that the allocator gives.
    assert cuda.did.index("wait for the program") < cuda.did.index("copy")
    assert cuda.did[-1] == "synchronize" and not cuda.locked


@pytest.mark.parametrize("fails", ["memory", "lock", "allocate", "copy", "synchronize"])
def test_errors_are_not_the_programs(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = stubbed(monkeypatch, Cuda(PASSES * [1.0], fails))
    assert pinned_copy_gb_per_s(DEVICE) is None
    assert not cuda.locked


def test_nothing_is_copied_where_that_could_disturb(monkeypatch: pytest.MonkeyPatch) -> None:
    full, captured = Cuda([]), Cuda([])
    full.free = 2 * BYTES
    captured.capturing = True
    for cuda in (full, captured):
        stubbed(monkeypatch, cuda)
        assert pinned_copy_gb_per_s(DEVICE) is None
        assert "allocate" not in cuda.did
    for other in (None, torch.device("cpu"), torch.device("meta")):
        assert pinned_copy_gb_per_s(other) is None


def test_the_engine_is_told_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    stubbed(monkeypatch, Cuda(PASSES * [BYTES / 25e9 * 1e3]))
    assert facts.described_device(DEVICE) == {
        "device_kind": "cuda",
        "device_name": "NVIDIA Stub",
        "device_memory_bytes": 80e9,
        "copy_gb_per_s": pytest.approx(25),
    }
    stubbed(monkeypatch, Cuda(PASSES * [1.0], fails="properties"))
    assert facts.described_device(DEVICE)["device_memory_bytes"] is None
    for device, name in ((None, "cpu"), (SimpleNamespace(type="meta"), None)):
        described = facts.described_device(device)
        assert described["device_kind"] == "cpu"
        assert described["device_memory_bytes"] is described["copy_gb_per_s"] is None
        assert name is None or described["device_name"] == name
