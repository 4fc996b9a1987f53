"""torchdata.nodes: the work of peer_torch.py in threads of one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import default_collate
from torchdata.nodes import Batcher, Loader, Mapper, ParallelMapper, Prefetcher, SamplerWrapper

import cases
from peer_torch import Endless, EndlessBatches, Photos, Small


def batches(case: str, workers: int) -> Iterator[Any]:
    torch.set_num_threads(1)
    batch = cases.CASES[case].batch
    if case == "jpeg_rrc224":
        photos = Photos()
        order = SamplerWrapper(Endless(len(photos)))
        loaded = ParallelMapper(order, photos.__getitem__, num_workers=workers, method="thread")
        node = Prefetcher(Mapper(Batcher(loaded, batch), default_collate), prefetch_factor=2)
        for images, labels in Loader(node):
            yield images.permute(0, 2, 3, 1), labels
    else:
        small = Small(case)
        order = SamplerWrapper(EndlessBatches(len(small), batch))
        mapped = ParallelMapper(order, small.__getitem__, num_workers=workers, method="thread")
        yield from Loader(mapped)
