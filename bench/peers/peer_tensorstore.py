"""TensorStore, with as many threads as workers: the windows of several batches are read at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorstore

import cases

AHEAD = 3
"""Batches that are read while one is used."""


def opened(name: str, workers: int) -> Any:
    limit = {"limit": max(1, workers)}
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": f"{cases.zarr_group() / name}/"},
        "context": {"data_copy_concurrency": limit, "file_io_concurrency": limit},
    }
    return tensorstore.open(spec, read=True).result()


def batches(case: str, workers: int) -> Iterator[Any]:
    images = opened("images", workers)
    labels = opened("labels", workers).read().result()
    batch, side = cases.CASES[case].batch, cases.WINDOW
    running: deque[Any] = deque()
    for order in cases.endless_batches(4 * len(labels), batch):
        out = np.empty((batch, side, side, 3), np.uint8)
        reads = []
        for row, index in enumerate(order.tolist()):
            i, y, x = cases.corner(index)
            window = images[i, y : y + side, x : x + side]
            reads.append(tensorstore.array(out[row]).write(window))
        running.append((out, labels[order // 4], reads))
        if len(running) <= AHEAD:
            continue
        done, answers, waits = running.popleft()
        for wait in waits:
            wait.result()
        yield done, answers
