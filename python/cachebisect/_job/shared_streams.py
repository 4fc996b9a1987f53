"""Whether the workers of an iterable dataset give the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LEAST = 2
"""Samples at the beginning of a stream that tell it from others."""


def shared_streams(streams: Mapping[int, Sequence[int]], workers: int) -> list[str]:
    """A note if all `workers` give the same samples. `streams`: by worker, checksums of the first
    samples; none for a dataset that is not iterable. A worker that delivers nothing has no stream.

    Samples that are all equal tell nothing, and neither do those that differ at random.
    """
    if workers < 2 or len(streams) < workers:
        return []
    first, *others = map(tuple, streams.values())
    tells = len(first) >= _LEAST and len(set(first)) == len(first)
    if not tells or any(stream != first for stream in others):
        return []
    return [
        f"all {workers} workers give the same samples: the dataset does not divide them "
        f"(torch.utils.data.get_worker_info()), so that an epoch has each sample {workers} times"
    ]
