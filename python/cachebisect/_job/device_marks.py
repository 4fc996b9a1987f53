"""Moments at which a device has completed what was queued. Not thread safe."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from .gpu_monitor import GpuMonitor


class DeviceMarks:
    """Marks moments at which the device has completed what was queued.

    `device`: a torch.device, or None where steps end when Python says so.
    """

    def __init__(self, device: Any) -> None:
        self._cuda = device if device is not None and device.type == "cuda" else None
        self._monitor = GpuMonitor.of(device)

    def mark(self) -> Any:
        """The time, or a recorded CUDA event."""
        if self._cuda is None:
            return time.monotonic()
        torch = sys.modules["torch"]
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._cuda))
        return event

    def is_idle(self) -> Optional[bool]:
        """True if the device has completed what was queued; None if steps run on the CPU."""
        if self._cuda is None:
            return None
        return bool(sys.modules["torch"].cuda.current_stream(self._cuda).query())

    def reading(self) -> Optional[dict[str, Any]]:
        """What the device does by itself at this moment; None if nothing is known."""
        return self._monitor.read() if self._monitor is not None else None

    def close(self) -> None:
        """No reading after this."""
        if self._monitor is not None:
            self._monitor.close()

    def seconds(self, begin: Any, end: Any) -> float:
        """From one mark to another. Waits for the device."""
        if self._cuda is None:
            return float(end - begin)
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3
