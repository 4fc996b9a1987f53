"""Whether the workers of an iterable dataset give the same samples."""

from __future__ import annotations

from collections.abc import Sequence

_LEAST = 2
"""Samples at the beginning of a stream that tell it from others."""


def shared_streams(streams: Sequence[Sequence[int]]) -> list[str]:
    """A note if all workers give the same samples. `streams`: checksums of the first samples of
    each worker; none for a dataset that is not iterable.

    Samples that are all equal tell nothing, and neither do those that differ at random.
    """
    first = tuple(streams[0])
    tells = len(streams) > 1 and len(first) >= _LEAST and len(set(first)) == len(first)
    if not tells or any(tuple(stream) != first for stream in streams):
        return []
    workers = len(streams)
    return [
        f"all {workers} workers give the same samples: the dataset does not divide them "
        f"(torch.utils.data.get_worker_info()), so that an epoch has each sample {workers} times"
    ]
