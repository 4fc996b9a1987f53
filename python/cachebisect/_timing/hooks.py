"""Tells a session what PyTorch does, without a change of the script.

The loader's iterator and the backward pass are wrapped, the optimizer is followed by PyTorch's own
hooks. The modules that the script calls itself are learnt in one batch, by a hook on all modules;
from then on only these are followed, so that their parts cost nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Optional, Protocol

from .._follow.backward import FollowedBackward
from .._follow.loaders import Level, Open
from .._follow.optimizer_steps import follow_steps
from .batch_timer import BatchTimer


class LoopSubscriber(Protocol):
    """What is told of the loop, in the thread that trains. Its methods may raise SystemExit."""

    timer: BatchTimer
    giver: Optional[object]
    """The iterator that gave the last batch."""
    loads: bool
    """True while an iterator makes a batch."""

    @property
    def follows(self) -> bool:
        """False where nothing is to be told."""

    def gradients(self) -> bool:
        """True while PyTorch computes them."""

    def load_begun(self) -> None:
        """A loader is asked for a batch, or for an iterator."""

    def iterator_made(self, loader: Any) -> None:
        """`loader` has given its iterator."""

    def load_ended(self, loader: Any, batch: Any) -> None:
        """`loader` has given `batch`."""

    def trained_with(self, iterator: Any) -> None:
        """A training batch came from `iterator`, that of PyTorch."""

    def epoch_ended(self, trained: bool) -> None:
        """A loader has no more batches. `trained`: it gave training batches."""


class TimedIterator(Iterator[Any]):
    """The script's iterator. Unknown attributes are those of the loader's own."""

    def __init__(self, session: LoopSubscriber, loader: Any, own: Iterator[Any]) -> None:
        self._own = own
        self._session = session
        self._loader = loader
        self._trained = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __len__(self) -> int:
        return len(self._own)  # type: ignore[arg-type]

    def __next__(self) -> Any:
        session = self._session
        if not session.follows:
            return next(self._own)
        if not self._trained and session.timer.trained and session.giver is self:
            self._trained = True
            session.trained_with(self._own)
        if session.loads:  # Another iterator makes its batch of this one's.
            return next(self._own)
        session.load_begun()
        session.loads = True
        try:
            batch = next(self._own)
        except StopIteration:
            session.epoch_ended(self._trained)
            raise
        finally:
            session.loads = False
        session.giver = self
        session.load_ended(self._loader, batch)
        return batch


class TimedLoaders:
    """Gives the script a TimedIterator for each iterator that it opens; see follow_loaders()."""

    def __init__(self, session: LoopSubscriber) -> None:
        self._session = session
        self._opened: list[Any] = []
        """Loaders whose iterators are being made, the outermost first."""

    def opens(self, loader: Any) -> bool:
        return any(opened is loader for opened in self._opened)

    def iterator(self, loader: Any, original: Open, _level: Level) -> Iterator[Any]:
        session = self._session
        # What another iterator uses to make its batches is a part of its time.
        if not session.follows or self._opened or session.loads:
            return original(loader)
        session.load_begun()
        self._opened.append(loader)
        try:
            own = original(loader)
        finally:
            self._opened.pop()
        session.iterator_made(loader)
        return TimedIterator(session, loader, own)


def follow_backward(session: LoopSubscriber, autograd: Any) -> None:
    """`autograd`: the module torch.autograd."""

    def begun() -> bool:
        return session.follows and session.timer.backward_begun()

    FollowedBackward(autograd, begun, lambda: session.timer.backward_ended())


def follow_optimizers(session: LoopSubscriber, optimizer: Any) -> None:
    """`optimizer`: the module torch.optim.optimizer."""
    inside = [False]

    def begun(_optimizer: Any, _args: Any, _kwargs: Any) -> None:
        inside[0] = session.follows and session.timer.optimizer_begun()

    def ended(_optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if inside[0]:
            inside[0] = False
            session.timer.optimizer_ended()

    follow_steps(optimizer, ended, begun)


class ForwardHooks:
    """Follows the modules that the script calls itself."""

    def __init__(self, session: LoopSubscriber, module: Any) -> None:
        """`module`: the module torch.nn.modules.module."""
        self._session = session
        self._module = module
        self._depth = 0
        self._roots: weakref.WeakSet[Any] = weakref.WeakSet()
        self._handles: list[Any] = []

    def learn(self) -> None:
        """Follows all modules from now on."""
        self._handles = [
            self._module.register_module_forward_pre_hook(self._entered),
            self._module.register_module_forward_hook(self._left),
        ]

    def learnt(self) -> None:
        """Follows the outermost ones alone."""
        for handle in self._handles:
            handle.remove()
        self._handles = [root.register_forward_pre_hook(self._called) for root in self._roots]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _entered(self, module: Any, _inputs: Any) -> None:
        if self._depth == 0:
            self._roots.add(module)
            self._called(module, _inputs)
        self._depth += 1

    def _left(self, _module: Any, _inputs: Any, _outputs: Any) -> None:
        self._depth = max(0, self._depth - 1)

    def _called(self, _module: Any, _inputs: Any) -> None:
        if self._session.follows and self._session.gradients():
            self._session.timer.forward_begun()
