"""zarr-python 3 in PyTorch's DataLoader: worker processes, in each of which the windows of a batch
are read together, as its asynchronous interface allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import zarr
from torch.utils.data import DataLoader, Dataset

import cases
from peer_torch import EndlessBatches


class Windows(Dataset[Any]):
    """Whole batches of windows."""

    def __init__(self) -> None:
        self.labels = zarr.open_group(cases.zarr_group(), mode="r")["labels"][:]
        self.images: Any = None

    def __len__(self) -> int:
        return 4 * len(self.labels)

    def __getitem__(self, indices: Any) -> Any:
        if self.images is None:  # In the worker: its event loop does not survive a fork.
            zarr.config.set({"threading.max_workers": 1})
            self.loop = asyncio.new_event_loop()
            opened = zarr.AsyncGroup.open(str(cases.zarr_group()))
            group = self.loop.run_until_complete(opened)
            self.images = self.loop.run_until_complete(group.getitem("images"))
        return self.loop.run_until_complete(self.read(indices)), self.labels[indices // 4]

    async def read(self, indices: Any) -> Any:
        places = [cases.corner(index) for index in indices.tolist()]
        side = cases.WINDOW
        reads = [
            self.images.getitem((i, slice(y, y + side), slice(x, x + side))) for i, y, x in places
        ]
        return np.stack(await asyncio.gather(*reads))


def batches(case: str, workers: int) -> Iterator[Any]:
    windows = Windows()
    order = EndlessBatches(len(windows), cases.CASES[case].batch)
    yield from DataLoader(
        windows, batch_size=None, sampler=order, num_workers=workers, persistent_workers=workers > 0
    )
