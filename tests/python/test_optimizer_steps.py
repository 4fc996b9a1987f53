"""Steps of optimizers are seen in versions of PyTorch that have hooks for them, and in those that
have none."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

from cachebisect._follow.optimizer_steps import follow_steps


def module_of_pytorch_1() -> Any:
    """torch.optim.optimizer of PyTorch 1.13, as far as it matters here."""

    class Optimizer:
        def __init__(self) -> None:
            self._hook_for_profile()

        def _hook_for_profile(self) -> None:
            step = self.__class__.step  # type: ignore[attr-defined]
            if not getattr(step, "hooked", None):

                @functools.wraps(step)
                def wrapper(*args: Any, **kwargs: Any) -> Any:
                    return step(*args, **kwargs)

                self.__class__.step = wrapper  # type: ignore[attr-defined]
                self.__class__.step.hooked = True  # type: ignore[attr-defined]

    class SGD(Optimizer):
        def step(self, closure: Any = None) -> Any:
            return "sgd" if closure is None else closure()

    class Momentum(SGD):
        pass

    class Adam(Optimizer):
        def step(self, closure: Any = None) -> Any:
            raise ValueError("no gradients")

    return SimpleNamespace(Optimizer=Optimizer, SGD=SGD, Momentum=Momentum, Adam=Adam)


def test_without_hooks_the_step_of_each_class_is_followed_once() -> None:
    module = module_of_pytorch_1()
    older = module.Momentum()
    seen: list[Any] = []
    follow_steps(
        module,
        lambda optimizer, _args, _kwargs: seen.append(("ended", optimizer)),
        lambda optimizer, _args, _kwargs: seen.append(("begun", optimizer)),
    )
    first, second = module.SGD(), module.Momentum()
    for optimizer in (older, second, first):
        assert optimizer.step() == "sgd"
        assert optimizer.step(closure=lambda: 3) == 3
    expected = [
        (what, optimizer)
        for optimizer in (older, second, first)
        for _ in range(2)
        for what in ("begun", "ended")
    ]
    assert seen == expected
    assert module.SGD.step.__name__ == "step" and module.SGD.step.hooked


def test_a_step_that_fails_has_not_ended() -> None:
    module = module_of_pytorch_1()
    seen: list[Any] = []
    follow_steps(module, lambda *_arguments: seen.append(1))
    try:
        module.Adam().step()
    except ValueError as error:
        assert str(error) == "no gradients"
    assert seen == []


def test_hooks_of_newer_versions_are_used() -> None:
    registered: dict[str, Any] = {}
    module = SimpleNamespace(
        register_optimizer_step_pre_hook=lambda hook: registered.update(pre=hook),
        register_optimizer_step_post_hook=lambda hook: registered.update(post=hook),
    )
    follow_steps(module, ended := lambda *_arguments: None)
    assert registered == {"post": ended}
    follow_steps(module, ended, begun := lambda *_arguments: None)
    assert registered == {"pre": begun, "post": ended}
