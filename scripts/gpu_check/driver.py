"""The NVIDIA driver itself, by ctypes: what it finds, and what a copy from page-locked memory
reaches without any of our code."""

from __future__ import annotations

import ctypes
import statistics
from typing import Any, NamedTuple, Optional

_LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*"""


class DriverError(Exception):
    """Why there is no GPU to use."""


class Gpu(NamedTuple):
    name: str
    memory_bytes: int
    compute_capability: str
    gpus: int
    """That this process sees."""
    cuda_version: str
    """The newest CUDA that the driver serves."""


class Driver:
    """Device 0. `library` stands for libcuda.so.1."""

    def __init__(self, library: Optional[Any] = None) -> None:
        self._cuda = library if library is not None else _load()
        self._call("cuInit", 0)
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        if count.value == 0:
            raise DriverError("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES?)")
        self._count = count.value
        self._device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._cuda, name)(*arguments)
        if code != 0:
            raise DriverError(f"{name} failed with CUDA error {code}")

    def gpu(self) -> Gpu:
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, 256, self._device)
        memory = ctypes.c_size_t()
        self._call("cuDeviceTotalMem_v2", ctypes.byref(memory), self._device)
        version = ctypes.c_int()
        self._call("cuDriverGetVersion", ctypes.byref(version))
        numbers = []
        for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            value = ctypes.c_int()
            self._call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self._device)
            numbers.append(value.value)
        return Gpu(
            name.value.decode(), memory.value, f"{numbers[0]}.{numbers[1]}", self._count,
            f"{version.value // 1000}.{version.value % 1000 // 10}",
        )  # fmt: skip

    def pinned_copy_gb_per_s(self, megabytes: int = 256, passes: int = 20) -> float:
        """Median over copies to the device, by its own events. The memory is given back."""
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        try:
            self._call("cuCtxSetCurrent", context)
            return self._copies(megabytes * 1_000_000, passes)
        finally:
            self._call("cuDevicePrimaryCtxRelease_v2", self._device)

    def _copies(self, count: int, passes: int) -> float:
        host, device = ctypes.c_void_p(), ctypes.c_uint64()
        size = ctypes.c_size_t(count)
        self._call("cuMemHostAlloc", ctypes.byref(host), size, ctypes.c_uint(0))
        self._call("cuMemAlloc_v2", ctypes.byref(device), size)
        before, after = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (before, after):
            self._call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        rates = []
        for _ in range(passes):
            self._call("cuEventRecord", before, None)
            self._call("cuMemcpyHtoDAsync_v2", device, host, size, None)
            self._call("cuEventRecord", after, None)
            self._call("cuEventSynchronize", after)
            milliseconds = ctypes.c_float()
            self._call("cuEventElapsedTime", ctypes.byref(milliseconds), before, after)
            rates.append(count / 1e6 / milliseconds.value)
        self._call("cuMemFree_v2", device)
        self._call("cuMemFreeHost", host)
        return statistics.median(rates)


def _load() -> Any:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise DriverError("there is no NVIDIA driver: libcuda.so.1 cannot be loaded")
