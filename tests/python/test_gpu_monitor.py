"""What blocks tell of a GPU, read from the tests' own NVML in place of the driver's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import pytest

torch = pytest.importorskip("torch")

from cachebisect._job import gpu_monitor
from cachebisect._job.gpu_monitor import GpuMonitor
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from commands import ROOT
from loaders import Items

BUS_ID = "0000:86:00.0"
UUID = "GPU-bbbbbbbb-0000-0000-0000-000000000002"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the stub needs a compiler")


def build(folder: Path, *flags: str) -> str:
    library = folder / "libnvidia-ml.so.1"
    source = ROOT / "tests" / "nvml_stub" / "nvml_stub.cpp"
    words = ["g++", "-std=c++20", "-shared", "-fPIC", *flags, "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return str(library)


@pytest.fixture(scope="module")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="module")
def old_nvml(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("old_nvml"), "-DNVML_STUB_OLD")


def reading(library: str, bus_id: str = BUS_ID, uuid: str = "") -> Optional[dict[str, Any]]:
    monitor = GpuMonitor(bus_id, uuid, library)
    try:
        return monitor.read()
    finally:
        monitor.close()


def test_a_reading_is_that_of_the_device(nvml: str) -> None:
    expected = {
        "sm_clock_mhz": 1855,
        "memory_clock_mhz": 2719,
        "power_watts": 412.5,
        "utilization": 0.87,
        "pcie_generation": 4,
        "pcie_width": 8,
        "throttling": {"thermal": False, "power": False},
    }
    assert reading(nvml) == expected
    assert reading(nvml, bus_id="", uuid=UUID) == expected
    other = reading(nvml, bus_id="0000:3b:00.0")
    assert other is not None and other["sm_clock_mhz"] == 1755


@pytest.mark.parametrize(
    "reasons,thermal,power",
    [
        ("0x4", False, True),
        ("0x80", False, True),
        ("0x20", True, False),
        ("0x8", True, False),
        ("0x48", True, False),
        ("0x88", False, True),
        ("0x24", True, True),
        ("0x1", False, False),
    ],
)
def test_reasons_are_heat_and_power(
    reasons: str, thermal: bool, power: bool, old_nvml: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVML_STUB_REASONS", reasons)
    found = reading(old_nvml)
    assert found is not None and found["throttling"] == {"thermal": thermal, "power": power}


def test_what_is_not_known_is_none(nvml: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading("libnvidia-ml.so.missing") is None
    assert reading("libc.so.6") is None
    assert reading(nvml, bus_id="0000:ff:00.0") is None
    assert reading(nvml, bus_id="") is None
    monkeypatch.setenv("NVML_STUB_PCIE_WIDTH", str(0xFFFFFFFF))
    monkeypatch.setenv("NVML_STUB_PCIE_GENERATION", "0")
    found = reading(nvml)
    assert found is not None and found["pcie_width"] is None and found["pcie_generation"] is None
    monkeypatch.setenv("NVML_STUB_STATUS", "3")
    assert reading(nvml) is None
    monkeypatch.setenv("NVML_STUB_INIT", "9")
    assert reading(nvml) is None


def test_a_closed_monitor_knows_nothing(nvml: str) -> None:
    monitor = GpuMonitor(BUS_ID, "", nvml)
    assert monitor.read() is not None
    monitor.close()
    monitor.close()
    assert monitor.read() is None


def test_the_address_is_that_of_torch(nvml: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_monitor, "LIBRARY", nvml)
    properties = SimpleNamespace(uuid=UUID[4:], pci_bus_id=0x86, pci_device_id=0, pci_domain_id=0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    assert GpuMonitor.of(None) is None
    assert GpuMonitor.of(torch.device("cpu")) is None
    monitor = GpuMonitor.of(torch.device("cuda", 1))
    assert monitor is not None and monitor.read() is not None
    del properties.pci_bus_id
    monitor = GpuMonitor.of(torch.device("cuda", 1))
    assert monitor is not None and monitor.read() is not None
    del properties.uuid
    monitor = GpuMonitor.of(torch.device("cuda", 1))
    assert monitor is not None and monitor.read() is None


def test_a_block_tells_what_the_device_did_at_its_end(nvml: str) -> None:
    job = Job(torch.utils.data.DataLoader(Items(), batch_size=4), KeptState(()))
    arm = {"kind": "live", "boundary": 0, "stage": 0, "overrides": {}}

    def result() -> dict[str, Any]:
        block = job.begin_block({"arm": arm, "steps": 2, "warmup_steps": 1})
        while not block.enter():
            block.take()
        block.end()
        return block.result()

    try:
        assert result()["device"] is None
        job._marks._monitor = GpuMonitor(BUS_ID, "", nvml)
        assert result()["device"]["sm_clock_mhz"] == 1855
    finally:
        job.close()
