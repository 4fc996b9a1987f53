"""What the shadow loader's constructor is given."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._job.shadow import ShadowLoader
from cachebisect._worker.tasks import LIVE, Task
from loaders import Items


class OlderLoader(torch.utils.data.DataLoader):
    """Its constructor takes what torch 2.4 knows."""

    def __init__(
        self, dataset: Any, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, timeout: float = 0,
        worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: Any = None,
        prefetch_factor: Any = None, persistent_workers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            dataset, batch_sampler=batch_sampler, num_workers=num_workers, collate_fn=collate_fn,
            pin_memory=pin_memory, timeout=timeout, worker_init_fn=worker_init_fn,
            multiprocessing_context=multiprocessing_context, generator=generator,
            prefetch_factor=prefetch_factor, persistent_workers=persistent_workers,
        )  # fmt: skip


def test_a_loader_that_knows_more_than_this_torch_is_measured(monkeypatch: Any) -> None:
    """As torchdata's StatefulDataLoader, which has `in_order` over any torch."""
    loader = torch.utils.data.DataLoader(Items(length=16), batch_size=4, num_workers=1)
    loader.in_order = False
    monkeypatch.setattr(torch.utils.data, "DataLoader", OlderLoader)
    shadow = ShadowLoader(loader)
    assert shadow.in_order
    try:
        shadow.begin(1, lambda number: Task(number, 1, LIVE, 0, 0, [2, 3], (), False, 0, 0))
        assert shadow.receive()[1].tolist() == [2, 3]
    finally:
        shadow.close()
