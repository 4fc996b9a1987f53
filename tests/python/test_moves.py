"""How the step moves its batches. Tensors go to the device "meta", which every machine has."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader

from cachebisect._chain import moves
from cachebisect._chain.moves import MoveWatch
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import device_of_step
from loaders import Items

METHODS = ("to", "cuda", "copy_")


@pytest.fixture(autouse=True)
def used_device(monkeypatch: Any) -> Any:
    """The program has used its device; afterwards nothing is replaced any more."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    yield
    assert moves._replaced == {}
    assert not any(name in vars(torch.Tensor) for name in METHODS)


def seen(step: Any) -> Any:
    """What is learnt from pass-through steps."""
    passed = PassThrough()
    own = iter(DataLoader(Items(), batch_size=4))
    while True:
        batch = passed.next_batch(own)
        if batch is PassThrough.OVER:
            return passed.copies_without_waiting()
        step(batch[0])


STEPS = {
    "by name": (lambda x: x.to("meta", non_blocking=True), True),
    "by position": (lambda x: x.to(torch.device("meta"), torch.float64, True), True),
    "to another": (lambda x: x.to(torch.empty(1, device="meta"), True), True),
    "into a buffer": (lambda x: torch.empty(4, 4, device="meta").copy_(x, True), True),
    "into a buffer, waiting": (lambda x: torch.empty(4, 4, device="meta").copy_(x), False),
    "waiting": (lambda x: x.to("meta"), False),
    "copied, waiting": (lambda x: x.to("meta", torch.float64, False, True), False),
    "the larger part waits": (lambda x: (x.to("meta"), x[:1].to("meta", non_blocking=True)), False),
    "a computed tensor": (lambda x: (x * 2).to("meta", non_blocking=True), True),
    "no move": (lambda x: x.to(torch.float64, non_blocking=True), None),
    "nothing": (lambda x: None, None),
}


def test_the_device_is_where_most_goes() -> None:
    passed = PassThrough()
    own = iter(DataLoader(Items(), batch_size=4))
    while (batch := passed.next_batch(own)) is not PassThrough.OVER:
        batch[0].to("meta")
    assert passed.device() == torch.device("meta")
    assert PassThrough().device() is None


def test_a_device_that_nobody_knows_is_refused(monkeypatch: Any) -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    assert device_of_step(None, [optimizer]) == torch.device("cpu")
    assert device_of_step(torch.device("meta"), [optimizer]) == torch.device("meta")
    with pytest.raises(ValueError, match="the device of the step is not known"):
        device_of_step(None, [])
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    assert device_of_step(None, []) is None
    jax = types.SimpleNamespace(default_backend=lambda: "gpu")
    monkeypatch.setitem(sys.modules, "jax", jax)
    with pytest.raises(ValueError, match="the device of the step is not known"):
        device_of_step(None, [])
    assert device_of_step(None, [optimizer]) == torch.device("cpu")


@pytest.mark.parametrize("name", STEPS)
def test_moves_of_the_step_are_seen(name: str) -> None:
    step, expected = STEPS[name]
    assert seen(step) is expected


def test_nothing_is_replaced_after_two_steps() -> None:
    replaced = []

    def step(_x: Any) -> None:
        replaced.append("to" in vars(torch.Tensor))

    seen(step)
    assert replaced[:3] == [True, True, False] and not any(replaced[2:])


def test_without_a_device_nothing_is_replaced(monkeypatch: Any) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    replaced = []
    assert seen(lambda _x: replaced.append("to" in vars(torch.Tensor))) is None
    assert not any(replaced)


def test_watches_may_end_in_any_order() -> None:
    outer, inner = MoveWatch(), MoveWatch()
    outer.start()
    inner.start()
    outer.stop()
    torch.zeros(2).to("meta", non_blocking=True)
    inner.stop()
    assert (outer.non_blocking(), inner.non_blocking()) == (None, True)


def test_watch_that_was_given_up_is_noticed() -> None:
    watch = MoveWatch()
    watch.start()
    del watch
    assert torch.zeros(2).to("meta").device.type == "meta"
