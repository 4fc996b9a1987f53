"""Calls back around the steps of every torch optimizer, in all versions of PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Callable, Optional

Hook = Callable[[Any, Any, Any], None]
"""Called with the optimizer, and the arguments of its step."""

_FOLLOWED = "_cachebisect_follows"


def follow_steps(module: Any, ended: Hook, begun: Optional[Hook] = None) -> None:
    """`module`: torch.optim.optimizer. Optimizers may exist already."""
    before = getattr(module, "register_optimizer_step_pre_hook", None)
    after = getattr(module, "register_optimizer_step_post_hook", None)
    if before is None or after is None:
        _follow_classes(module.Optimizer, ended, begun)
        return
    if begun is not None:
        before(begun)
    after(ended)


def _follow_classes(base: Any, ended: Hook, begun: Optional[Hook]) -> None:
    """PyTorch 1 has no such hooks, but wraps the step of each class as its first optimizer is
    made."""
    wrap = base._hook_for_profile

    def follow(kind: Any) -> None:
        if not getattr(kind.step, _FOLLOWED, False):
            kind.step = _followed(kind.step, ended, begun)

    @functools.wraps(wrap)
    def _hook_for_profile(optimizer: Any) -> None:
        wrap(optimizer)
        follow(type(optimizer))

    base._hook_for_profile = _hook_for_profile
    for kind in _subclasses(base):
        if getattr(vars(kind).get("step"), "hooked", False):
            follow(kind)


def _subclasses(kind: Any) -> Iterator[Any]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _followed(step: Callable[..., Any], ended: Hook, begun: Optional[Hook]) -> Callable[..., Any]:
    @functools.wraps(step)
    def call(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if begun is not None:
            begun(optimizer, args, kwargs)
        result = step(optimizer, *args, **kwargs)
        ended(optimizer, args, kwargs)
        return result

    setattr(call, _FOLLOWED, True)
    return call
