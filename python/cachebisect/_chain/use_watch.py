"""Sees which tensors of its batches a step reads, by the pages of memory that it touches.

What a worker sends lies in shared memory. The system enters a page of it into the page table of
this process when something here touches it first: a tensor without such pages was not read, by
whatever means. /proc/self/pagemap shows them, and looking changes nothing. Of what was touched
before the step got it, as pinning does, nothing is known. Not thread safe.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .payload import named_tensors
from .trees import is_dense

_FIRST = 3
"""The first two batches are compared before and after the step, and so are read by us."""
HELD = 8
"""Batches that are taken from one on until it is looked at: some loops take them in advance."""
_TIMES = 3
"""Batches that are watched, one after the other."""
LEAST_BYTES = 64 * 1024
"""Of a tensor: the system enters up to 16 pages at once."""
_LEAST_SHARE = 0.02
"""Of the bytes of a batch; less is not worth a change."""


@dataclass(frozen=True)
class Unused:
    """A tensor of the batch that no step has read. `bytes`: of a batch."""

    name: str
    bytes: int

    def text(self, batch_bytes: float, samples: int) -> str:
        """A note."""
        return (
            f"the step never reads {self.name}, by {_TIMES} batches: "
            f"{self.bytes / samples:,.0f} of the {batch_bytes / samples:,.0f} bytes of a sample"
        )


def line_without(unused: Sequence[Unused], of_samples: bool = False) -> str:
    """A line of code. `of_samples`: the parts of a batch are those of its samples, where they are
    left out before they are put together. Items of a tuple cannot be removed where they are."""
    whole = "sample" if of_samples else "batch"
    where = "in __getitem__, before it returns" if of_samples else "in collate_fn"
    names = ", ".join(whole + each.name.removeprefix("batch") for each in unused)
    if all(each.name.endswith("']") for each in unused):
        return f"del {names}  # {where}; better, do not make it in the Dataset"
    return f"return [{whole} without {names}]  # {where}; then unpack fewer in the loop"


class UseWatch:
    """Holds the memory of one batch at a time, for HELD batches. Raises nothing."""

    def __init__(self) -> None:
        self._batches = 0
        self._since = 0
        self._held: dict[str, Any] = {}
        """Storages of the batch that is watched."""
        self._left: dict[str, int] = {}
        """Bytes of tensors that no step has read so far."""
        self._times = 0
        self._works = True

    def after_batch(self, batch: Any) -> None:
        """`batch` is about to be handed over."""
        self._batches += 1
        if self._batches < _FIRST or self._held or self._times >= _TIMES or not self._works:
            return
        try:
            self._begin(batch)
        except Exception:  # A type of its own, or no /proc.
            self._give_up()

    def before_batch(self) -> None:
        """A step has ended, or the first is about to begin."""
        if not self._held or self._batches - self._since < HELD - 1:
            return
        try:
            self._end()
        except Exception:
            self._give_up()

    def end(self) -> None:
        """Lets go of what is held. If that is too early, nothing is known."""
        if self._times < _TIMES:
            self._give_up()

    def unused(self, batch_bytes: float) -> list[Unused]:
        """What is not read, the largest first; empty if that is not known. Ends watching."""
        self.end()
        found = [Unused(name, size) for name, size in self._left.items()]
        large = [each for each in found if each.bytes >= _LEAST_SHARE * batch_bytes]
        return sorted(large, key=lambda each: -each.bytes)

    def _begin(self, batch: Any) -> None:
        found = {}
        for name, tensor in named_tensors(batch, "batch"):
            if is_dense(tensor) and tensor.device.type == "cpu" and tensor.is_shared():
                found[name] = tensor.untyped_storage()
        fresh = {name: held for name, held in found.items() if touched(held) == 0}
        if self._times == 0:
            self._left = {name: held.nbytes() for name, held in fresh.items()}
        self._left = {name: size for name, size in self._left.items() if name in fresh}
        self._held, self._since = fresh, self._batches
        if not self._left:
            self._give_up()

    def _end(self) -> None:
        read = {name for name, held in self._held.items() if touched(held) > 0}
        self._held = {}
        self._times += 1
        self._left = {name: size for name, size in self._left.items() if name not in read}
        if not read or not self._left:  # Nothing at all: the step is elsewhere.
            self._give_up()

    def _give_up(self) -> None:
        self._works, self._held, self._left = False, {}, {}


def touched(storage: Any) -> int:
    """Pages of it that are in the page table of this process; 1 if they are too few to tell."""
    first = -(-storage.data_ptr() // mmap.PAGESIZE)
    pages = (storage.data_ptr() + storage.nbytes()) // mmap.PAGESIZE - first
    if storage.nbytes() < LEAST_BYTES:
        return 1
    with open("/proc/self/pagemap", "rb", buffering=0) as table:
        table.seek(_ENTRY * first)
        entries = table.read(_ENTRY * pages)
    if len(entries) != _ENTRY * pages:
        raise OSError("the page table was not given")
    states = entries[_ENTRY - 1 :: _ENTRY]
    return len(states) - states.count(0)


_ENTRY = 8
"""Bytes of an entry of the table. The highest bits are those of a page that is there."""
