"""What a GPU does by itself, read from NVML: clocks, power, throttling, its link to the host.

NVML comes with the driver and is opened by ctypes: without it nothing is known, and nothing fails.
Constants are those of nvml.h.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Optional

LIBRARY = "libnvidia-ml.so.1"

_SUCCESS = 0
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_UNKNOWN = 0xFFFFFFFF
"""NVML's answer if the link is unknown, as in some virtual machines."""

_SOFTWARE_POWER_CAP, _POWER_BRAKE = 0x4, 0x80
_SOFTWARE_THERMAL, _HARDWARE_THERMAL = 0x20, 0x40
_HARDWARE_SLOWDOWN = 0x8
"""Heat or power; the other reasons tell which."""


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class GpuMonitor:
    """Reads one GPU, by its PCI bus id or its UUID. Not thread safe."""

    def __init__(self, pci_bus_id: str, uuid: str, library: Optional[str] = None) -> None:
        self._nvml: Any = None
        self._gpu = ctypes.c_void_p()
        try:
            nvml = ctypes.CDLL(library or LIBRARY)
            if nvml.nvmlInit_v2() != _SUCCESS:
                return
        except (OSError, AttributeError):
            return
        self._nvml = nvml
        if not self._find("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id) and not self._find(
            "nvmlDeviceGetHandleByUUID", uuid
        ):
            self.close()

    @classmethod
    def of(cls, device: Any) -> Optional[GpuMonitor]:
        """The monitor of a torch.device; None if it is no CUDA device."""
        if device is None or device.type != "cuda":
            return None
        return cls(*_address(sys.modules["torch"].cuda.get_device_properties(device)))

    def read(self) -> Optional[dict[str, Any]]:
        """`device` of a block in docs/extend/protocol.md; None if nothing is known."""
        if self._nvml is None:
            return None
        power = self._number("nvmlDeviceGetPowerUsage")
        utilization = _Utilization()
        known = self._call("nvmlDeviceGetUtilizationRates", ctypes.byref(utilization))
        reading = {
            "sm_clock_mhz": self._number("nvmlDeviceGetClockInfo", _SM_CLOCK) or None,
            "memory_clock_mhz": self._number("nvmlDeviceGetClockInfo", _MEMORY_CLOCK) or None,
            "power_watts": None if power is None else 1e-3 * power,
            "utilization": 1e-2 * utilization.gpu if known else None,
            "pcie_generation": self._number("nvmlDeviceGetCurrPcieLinkGeneration") or None,
            "pcie_width": self._number("nvmlDeviceGetCurrPcieLinkWidth") or None,
            "throttling": self._throttling(),
        }
        return None if all(value is None for value in reading.values()) else reading

    def close(self) -> None:
        """From now on nothing is known."""
        if self._nvml is not None:
            self._nvml.nvmlShutdown()
        self._nvml = None

    def _find(self, function: str, name: str) -> bool:
        get = getattr(self._nvml, function, None)
        if get is None or not name:
            return False
        return bool(get(name.encode(), ctypes.byref(self._gpu)) == _SUCCESS)

    def _call(self, function: str, *arguments: Any) -> bool:
        """False if the driver lacks the function, or does not answer."""
        get = getattr(self._nvml, function, None)
        return get is not None and get(self._gpu, *arguments) == _SUCCESS

    def _number(self, function: str, *kind: int) -> Optional[int]:
        value = ctypes.c_uint()
        known = self._call(function, *kind, ctypes.byref(value))
        return value.value if known and value.value != _UNKNOWN else None

    def _throttling(self) -> Optional[dict[str, bool]]:
        found = ctypes.c_ulonglong()
        at = ctypes.byref(found)
        # Drivers before 535 know the older name alone.
        if not self._call("nvmlDeviceGetCurrentClocksEventReasons", at) and not self._call(
            "nvmlDeviceGetCurrentClocksThrottleReasons", at
        ):
            return None
        reasons = found.value
        power = bool(reasons & (_SOFTWARE_POWER_CAP | _POWER_BRAKE))
        thermal = bool(reasons & (_SOFTWARE_THERMAL | _HARDWARE_THERMAL))
        if reasons & _HARDWARE_SLOWDOWN and not power:
            thermal = True  # The usual one of the two.
        return {"thermal": thermal, "power": power}


def _address(properties: Any) -> tuple[str, str]:
    """PCI bus id and UUID of torch's device properties; empty where this torch lacks them."""
    uuid = getattr(properties, "uuid", None)
    bus = getattr(properties, "pci_bus_id", None)
    if bus is None:
        return "", f"GPU-{uuid}" if uuid is not None else ""
    domain, slot = properties.pci_domain_id, properties.pci_device_id
    return f"{domain:04x}:{bus:02x}:{slot:02x}.0", f"GPU-{uuid}" if uuid is not None else ""
