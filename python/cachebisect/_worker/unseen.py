"""Batches that were made up to a boundary alone: the stages after it have never had them."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, Optional

from .._chain import trees
from .._chain.taking import pass_over
from .cached_batch import CachedBatch
from .recording import Run
from .tape import Call, Tape


class UnseenBatches:
    """The unseen batches of one worker; each is served once. Not thread safe."""

    def __init__(self) -> None:
        self._waiting: deque[CachedBatch] = deque()
        self._fill = -1
        self._current: Optional[CachedBatch] = None

    def add(self, batch: CachedBatch, fill: int) -> None:
        """A new number `fill` lets go of what is left of an older one."""
        if fill != self._fill:
            self._fill = fill
            self._waiting.clear()
        self._waiting.append(batch)

    def next(self) -> bool:
        """Goes on to the next batch. False if there is none."""
        if not self._waiting:
            return False
        self._current = self._waiting.popleft()
        return True

    @property
    def current(self) -> CachedBatch:
        """The batch that next() went to last."""
        assert self._current is not None
        return self._current


def answered_from(tapes: list[Tape], first_live: int) -> Run:
    """For record(): makes the calls of the stages before `first_live`. Those of the others are
    answered from `tapes`, any of them; a stage that has no answer is called."""
    answers: dict[int, list[Call]] = {}
    for tape in tapes:
        for call in tape.calls:
            if call.stage >= first_live:
                answers.setdefault(call.stage, []).append(call)
    choose = random.Random(len(answers))

    def run(stage: int, function: Any, args: Any, kwargs: Any) -> Any:
        if stage in answers:
            chosen = choose.choice(answers[stage])
            pass_over(function, chosen.args)
            return trees.clone(chosen.output)
        return function(*args, **kwargs)

    return run
