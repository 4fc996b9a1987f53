"""Asks all workers what their samples ask of storage, while all of them make samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from .._chain.orders import Order
from .._chain.sources import reads_whole_batches
from .._worker.tasks import STORAGE, StorageWork, Task
from .loaders import PROBE_SECONDS, MeasuredLoader
from .patience import Patience

_LEAST = 2
"""Samples that a worker counts, if it has the time."""
_WARM_UP = 1


def count_storage(
    loader: MeasuredLoader, plan: tuple[str, ...], samples: int, max_seconds: float
) -> Optional[dict[str, Any]]:
    """`storage` of docs/extend/protocol.md; None for a loader whose samples are not seen.

    `plan`: names of the stages that are known. Raises what the dataset raises, and LoaderGone.
    """
    shadow = loader.shadow
    if shadow is None:
        return None
    workers, counts_as = max(1, shadow.workers), _samples_of_item(loader)
    each = max(_LEAST, round(samples / workers / counts_as))
    work = [StorageWork(_batches(loader, each), each, max_seconds) for _ in range(workers)]
    block = loader.next_block()

    def make(number: int) -> Task:
        # There are more tasks than workers if some of these have nothing to deliver.
        own = work.pop() if len(work) > 1 else work[0]
        return Task(number, block, STORAGE, 0, 0, own, plan, False, 0, 0)

    try:
        with Patience(PROBE_SECONDS + max_seconds, shadow):
            shadow.begin_some(block, workers, make)
            answers = [shadow.receive() for _ in range(workers)]
    finally:
        shadow.end()
    return merged(answers, counts_as)


def merged(answers: Sequence[dict[str, Any]], counts_as: float = 1.0) -> Optional[dict[str, Any]]:
    """The answers of workers as one; None if nothing was counted. `counts_as`: samples that each
    of theirs counts as."""
    answers = [answer for answer in answers if answer["samples"]]
    if not answers:
        return None
    whole: dict[str, Any] = {"workers": len({answer["worker"] for answer in answers})}
    for field in answers[0]:
        values = [answer[field] for answer in answers]
        if field == "samples":
            whole[field] = max(1, round(counts_as * sum(values)))
        elif field == "most_in_flight":
            whole[field] = max(values)
        elif field != "worker":
            whole[field] = None if None in values else sum(values)
    return whole


def _samples_of_item(loader: MeasuredLoader) -> float:
    """Samples that what the dataset calls a sample counts as."""
    own = loader.own
    if own.batch_sampler is None:
        return float(loader.batch_size)
    if loader.samples_per_batch and own.batch_size:
        return loader.samples_per_batch / float(own.batch_size)
    return 1.0


def _batches(loader: MeasuredLoader, samples: int) -> list[Any]:
    """For one worker: what it makes `samples` of, and one to warm up."""
    order = loader.order
    if order is None:
        return []
    if not order.gives_batches:
        return [order.draw() for _ in range(_WARM_UP + samples)]
    if reads_whole_batches(loader.own.dataset):
        return _whole_batches(order, samples)
    return [_distinct(order, _WARM_UP + samples)]


def _whole_batches(order: Order, samples: int) -> list[Any]:
    drawn = [order.draw()]
    while len(drawn) < _WARM_UP + _LEAST or order.count(drawn[0]) * (len(drawn) - 1) < samples:
        drawn.append(order.draw())
    return drawn


def _distinct(order: Order, samples: int) -> list[Any]:
    """Indices of so many samples, or fewer. Small data sets have few: what is read again only for
    the count would look like what each epoch reads twice."""
    drawn: list[Any] = []
    for _ in range(samples):
        if len(drawn) < samples:
            drawn.extend(order.draw())
    try:
        distinct = list(dict.fromkeys(drawn))
    except TypeError:  # Indices of their own kind.
        distinct = drawn
    return (distinct if len(distinct) >= _WARM_UP + _LEAST else drawn)[:samples]
