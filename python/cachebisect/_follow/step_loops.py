"""Loops over the steps of a rank that has no loader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional, TypeVar

_Item = TypeVar("_Item")
Watch = Callable[[Iterator[Any]], Iterator[Any]]


class _Watched:
    watch: Optional[Watch] = None


def follow_step_loops(watch: Watch) -> None:
    """From now on steps() gives what `watch` makes of the iterator of its argument."""
    _Watched.watch = watch


def steps(iterable: Iterable[_Item]) -> Iterator[_Item]:
    """Iterates `iterable` in the training loop of a rank that has no loader.

    In tensor and pipeline parallel jobs some ranks read no data, and wait in each step for those
    that do. `cachebisect run` measures all ranks of a job in the same blocks of steps, so that the
    loop of such a rank must be seen, too:

        for step in cachebisect.steps(range(steps_per_epoch)):
            train(step)

    It must take one item for each batch that the other ranks take from their loaders, and end with
    their epochs. While it is measured, the last item may come again. Without `cachebisect run`, and
    in a process that is the only one of its job, this is `iter(iterable)`.
    """
    own = iter(iterable)
    return own if _Watched.watch is None else _Watched.watch(own)
