"""Batches of what is no DataLoader: the stages that they come through, and why they end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from .._chain.array_devices import lies_on_device, refuse_untimed
from .._chain.description import Chain, chain_of_iterable, name_of_loader
from .._chain.named_source import NamedSource
from .member_arms import MemberArms


def chain_of_batches(
    batches: Any, nodes: Optional[MemberArms], first: Any, on_device: bool
) -> Chain:
    """`first`: one of `batches`. `nodes`: what measures their members, if they have some. Raises
    UntimedDevice."""
    refuse_untimed(first)
    is_there = lies_on_device(first)
    if nodes is None:
        return chain_of_iterable(batches, on_device, is_there)
    return nodes.chain(on_device, is_there)


def why_it_ended(batches: Any) -> str:
    """In words, and what to do."""
    if isinstance(batches, Iterator):
        kind = type(batches).__name__
        return (
            f"the loader is a {kind}, which has ended and cannot begin again: give what makes "
            "one, such as a function (bisect(batches, step), not bisect(batches(), step)) or "
            "an object with __iter__"
        )
    loader = getattr(batches, "loader", batches)
    told = f"{name_of_loader(loader)} gave no batch, or has ended and cannot begin again"
    stream = loader.stream if isinstance(loader, NamedSource) else None
    keeps = stream is not None and stream.keeps
    return f"{told}; measure without --then continue, or in a longer epoch" if keeps else told
