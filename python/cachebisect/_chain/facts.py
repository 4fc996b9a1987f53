"""What is known of a loader and a device without running them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, Optional

from . import tree_sizes, trees
from .copy_rate import pinned_copy_gb_per_s

DEVICE_KINDS = {"cpu": "cpu", "cuda": "cuda", "meta": "cpu"}
"""By torch.device.type. Nothing runs on meta: the host's clock times its steps."""


def is_torch_loader(loader: Any) -> bool:
    """True for a torch.utils.data.DataLoader that loads by itself, not a wrapper around one."""
    torch_data = sys.modules.get("torch.utils.data")
    return torch_data is not None and isinstance(loader, torch_data.DataLoader)


def makes_own_iterator(loader: Any) -> bool:
    """True if the class of a DataLoader makes the iterator itself: its batches may differ from
    those of a DataLoader with the same arguments."""
    base = sys.modules["torch.utils.data"].DataLoader
    return bool(type(loader)._get_iterator is not base._get_iterator)


def iterates_itself(loader: Any) -> bool:
    """True if the class of a DataLoader changes what is iterated, in any way."""
    base = sys.modules["torch.utils.data"].DataLoader
    return bool(type(loader).__iter__ is not base.__iter__) or makes_own_iterator(loader)


def adds_only_state(loader: Any) -> bool:
    """True for a subclass of DataLoader that gives the same batches and can save its position."""
    return type(loader).__module__.startswith(_SAME_BATCHES)


_SAME_BATCHES = ("torchdata.stateful_dataloader.",)


def is_iterable(dataset: Any) -> bool:
    """True for a torch.utils.data.IterableDataset."""
    return isinstance(dataset, sys.modules["torch.utils.data"].IterableDataset)


def threads() -> int:
    """Threads that torch computes with in this process."""
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch is not None else 1


def worker_threads() -> int:
    """Threads that torch or OpenCV computes with in this process, whichever has more."""
    cv2 = sys.modules.get("cv2")
    return max(threads(), int(cv2.getNumThreads()) if cv2 is not None else 1)


def private_bytes(pids: list[int]) -> Optional[float]:
    """Mean memory that these processes share with no other; None if the system does not tell."""
    sizes = [size for pid in pids if pid > 0 and (size := _private_bytes(pid)) is not None]
    return sum(sizes) / len(sizes) if sizes else None


def _private_bytes(pid: int) -> Optional[float]:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return None
    return 1024.0 * sum(int(words[1]) for words in lines)


def batch_contents(batch: Any) -> dict[str, Any]:
    """`batch_contents` of docs/extend/protocol.md: what a worker sends for `batch`."""
    tensors, objects, kinds = 0, 0, set()
    for leaf in trees.leaves(batch):
        if trees.is_tensor(leaf):
            tensors += 1
            kinds.add((leaf.dtype, leaf.layout, tuple(map(str, leaf.shape[1:]))))
        else:
            objects += 1
    return {
        "objects": objects,
        "tensors": tensors,
        "packed_tensors": len(kinds),
        "bytes": tree_sizes.nbytes(batch),
    }


def length_of(loader: Any) -> int:
    """Samples in the data set; 0 if it does not tell."""
    try:
        return len(loader.dataset)
    except (AttributeError, TypeError, NotImplementedError):
        return 0


def epoch_samples_of(loader: Any, batch_size: int) -> Optional[int]:
    """Samples that an epoch of this process reads; None if that is not known.

    With several ranks, samplers divide the data set; a loader without them reads all of it in each.
    """
    if not is_torch_loader(loader) or is_iterable(loader.dataset):
        return None
    samples = length_of(loader)
    try:
        batches = len(loader)
    except Exception:  # A sampler of the user's own.
        return None
    return min(samples, batches * batch_size) if samples > 0 and batches > 0 else None


def described_device(device: Any) -> dict[str, Any]:
    """Its fields of `chain` in docs/extend/protocol.md; None is the CPU. A few copies to a CUDA
    device are timed."""
    kind = "cpu" if device is None else DEVICE_KINDS[device.type]
    return {
        "device_kind": kind,
        "device_name": _device_name(device),
        "device_memory_bytes": _memory_bytes(device),
        "copy_gb_per_s": pinned_copy_gb_per_s(device),
    }


def _memory_bytes(device: Any) -> Optional[float]:
    """Memory of a CUDA device; None for others, and where the driver does not tell."""
    if device is None or device.type != "cuda":
        return None
    try:
        return float(sys.modules["torch"].cuda.get_device_properties(device).total_memory)
    except Exception:  # The driver, or a torch of another kind.
        return None


def _device_name(device: Any) -> str:
    """As the driver calls it; None is the CPU."""
    if device is None:
        return "cpu"
    if device.type != "cuda":
        return str(device)
    return str(sys.modules["torch"].cuda.get_device_name(device))


def free_bytes(device: Any) -> Optional[float]:
    """Free memory of a CUDA device; None for others."""
    if device is None or device.type != "cuda":
        return None
    return float(sys.modules["torch"].cuda.mem_get_info(device)[0])


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; 0 if it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # Linux: the CPU clock of a process.
    except OSError:
        return 0.0


def descendants() -> list[int]:
    """The processes that this one has started, and those that they have, in the same session: the
    engine of a library call has one of its own, and counts itself. Without those that the system
    does not tell of."""
    found: list[int] = []
    waiting = [os.getpid()]
    session = os.getsid(0)
    while waiting:
        children = [pid for pid in _children(waiting.pop()) if _session(pid) == session]
        found += children
        waiting += children
    return found


def _session(pid: int) -> Optional[int]:
    """None if the process has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    """Linux keeps them by the thread that has started them."""
    children: list[int] = []
    tasks = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        for thread in os.listdir(tasks):
            with contextlib.suppress(OSError), open(f"{tasks}/{thread}/children") as file:
                children += map(int, file.read().split())
    return children


def page_faults(pid: int) -> int:
    """Pages that the system has given a process so far, without reading a disk; 0 if it has ended,
    or the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[7])
    except (OSError, ValueError, IndexError):
        return 0
