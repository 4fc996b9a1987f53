"""How fast a CUDA device takes copies from page-locked memory, by a few of them.

Nothing stays page-locked. What the copies went to stays with torch's allocator, for the program.
"""

from __future__ import annotations

import mmap
import sys
from typing import Any, Optional

BYTES = 16 << 20
PASSES = 6
"""The link may sleep before the first."""


def pinned_copy_gb_per_s(device: Any) -> Optional[float]:
    """The best of PASSES; None on other devices, with little memory left, while a graph is
    captured, and where it fails. Raises nothing. `device`: a torch.device, or None for the CPU."""
    if device is None or device.type != "cuda":
        return None
    try:
        torch = sys.modules["torch"]
        if torch.cuda.mem_get_info(device)[0] < 3 * BYTES:
            return None
        with torch.cuda.device(device):
            if torch.cuda.is_current_stream_capturing():
                return None
            return BYTES / _best_seconds(torch, device) / 1e9
    except Exception:  # The driver, or a torch of another kind.
        return None


def _best_seconds(torch: Any, device: Any) -> float:
    with mmap.mmap(-1, BYTES) as memory:
        source = torch.frombuffer(memory, dtype=torch.uint8)
        address = source.data_ptr()
        runtime = torch.cuda.cudart()
        torch.cuda.check_error(int(runtime.cudaHostRegister(address, BYTES, 0)))
        try:
            return _timed(torch, device, source)
        finally:
            torch.cuda.check_error(int(runtime.cudaHostUnregister(address)))
            del source  # It exports the memory.


def _timed(torch: Any, device: Any, source: Any) -> float:
    """What the program has enqueued may still read the memory that the allocator gives: the copies
    wait for it."""
    target = torch.empty(BYTES, dtype=torch.uint8, device=device)
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    best = float("inf")
    for _ in range(PASSES):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(stream):
            before.record()
            target.copy_(source, non_blocking=True)
            after.record()
        after.synchronize()
        best = min(best, before.elapsed_time(after) / 1e3)
    return best
