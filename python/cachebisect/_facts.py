"""What is known of a loader and a device without running them."""

from __future__ import annotations

import sys
from typing import Any, Optional


def is_torch_loader(loader: Any) -> bool:
    """True for a torch.utils.data.DataLoader that loads by itself, not a wrapper around one."""
    torch_data = sys.modules.get("torch.utils.data")
    return torch_data is not None and isinstance(loader, torch_data.DataLoader)


def is_iterable(dataset: Any) -> bool:
    """True for a torch.utils.data.IterableDataset."""
    return isinstance(dataset, sys.modules["torch.utils.data"].IterableDataset)


def threads() -> int:
    """Threads that torch computes with in this process."""
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch is not None else 1


def length_of(loader: Any) -> int:
    """Samples in the data set; 0 if it does not tell."""
    try:
        return len(loader.dataset)
    except (AttributeError, TypeError, NotImplementedError):
        return 0


def device_name(device: Any) -> str:
    """As the driver calls it; None is the CPU."""
    if device is None:
        return "cpu"
    return str(sys.modules["torch"].cuda.get_device_name(device))


def free_bytes(device: Any) -> Optional[float]:
    """Free device memory; None for the CPU."""
    if device is None:
        return None
    return float(sys.modules["torch"].cuda.mem_get_info(device)[0])
