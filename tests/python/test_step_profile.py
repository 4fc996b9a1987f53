"""Which functions and lines a training step spends its time in."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import CodeType
from typing import Any, Callable, Optional

import pytest

from cachebisect._job.step_profile import StepProfile, StepSamples

INSTALLED = os.path.join(os.sep, "lib", "site-packages")


def function_of(file: str, name: str = "call") -> Callable[..., Any]:
    """Calls what it is given, from a file of that name."""
    names: dict[str, Any] = {}
    exec(compile(f"def {name}(inner, *rest): return inner(*rest)", file, "exec"), names)
    found: Callable[..., Any] = names[name]
    return found


call_module = function_of(os.path.join(INSTALLED, "torch", "nn", "modules", "module.py"))
call_library = function_of(os.path.join(INSTALLED, "cv2", "resize.py"))
call_compiled = function_of(f"{os.sep}tmp{os.sep}torchinductor_me{os.sep}ab{os.sep}c.py")
call_ours = function_of(sys.modules[StepProfile.__module__].__file__ or "")


class Taken:
    """Samples of what runs in this test."""

    def __init__(self) -> None:
        codes: set[CodeType] = set()
        frame: Optional[Any] = sys._getframe(1)
        while frame is not None:
            codes.add(frame.f_code)
            frame = frame.f_back
        self.samples = StepSamples(frozenset(codes))

    def take(self, times: int = 1) -> None:
        for _ in range(times):
            self.samples.add(sys._getframe())

    def names(self) -> list[str]:
        return [entry["name"] for entry in self.samples.functions()]


class Model:
    def preprocess(self, inner: Callable[..., Any], *rest: Any) -> None:
        inner(*rest)

    def forward(self, inner: Callable[..., Any], *rest: Any) -> None:
        inner(*rest)


def step(inner: Callable[..., Any], *rest: Any) -> None:
    inner(*rest)


def take_here(taken: Taken, times: int) -> None:
    """The innermost function of the user in its samples."""
    for _ in range(times):
        taken.samples.add(sys._getframe(0))


def test_functions_are_named_with_file_line_and_share() -> None:
    taken = Taken()
    model = Model()
    model.preprocess(take_here, taken, 6)
    call_module(model.forward, call_module, take_here, taken, 4)
    found = {entry["name"]: entry for entry in taken.samples.functions()}
    # It is called by both, so that both are explained by it.
    assert list(found) == ["take_here"]
    assert found["take_here"]["share"] == 1
    code = take_here.__code__
    assert found["take_here"]["file"] == code.co_filename
    assert found["take_here"]["line"] == code.co_firstlineno


def sample_of(taken: Taken) -> Callable[[int], None]:
    """Takes samples as a library does: no function of the user is below its caller."""
    names: dict[str, Any] = {"sys": sys, "samples": taken.samples}
    code = "def take(times):\n  for _ in range(times): samples.add(sys._getframe())"
    exec(compile(code, os.path.join(INSTALLED, "numpy", "core.py"), "exec"), names)
    found: Callable[[int], None] = names["take"]
    return found


def test_what_calls_the_model_is_not_movable() -> None:
    taken = Taken()
    take = sample_of(taken)
    model = Model()
    step(model.preprocess, call_library, take, 60)
    call_module(model.forward, call_module, take, 30)
    step(call_module, take, 10)
    found = {entry["name"].rpartition(".")[2]: entry for entry in taken.samples.functions()}
    assert set(found) == {"preprocess", "forward"}, "step is explained by preprocess"
    assert found["preprocess"]["share"] == pytest.approx(0.6) and found["preprocess"]["movable"]
    assert found["forward"]["share"] == pytest.approx(0.3) and not found["forward"]["movable"]


def test_lines_of_the_loop_are_named_by_their_text() -> None:
    taken = Taken()
    take = sample_of(taken)
    take(3)
    call_compiled(take, 6)  # as a compiled step
    call_library(lambda: call_ours(take, 100))  # while we serve a batch
    step(take, 1)
    first, second, third = taken.samples.functions()
    assert first["name"] == "call_compiled(take, 6)  # as a compiled step"
    assert first["share"] == pytest.approx(0.6) and not first["movable"]
    assert second["name"] == "take(3)" and second["line"] == first["line"] - 1
    assert third["name"] == "step" and third["movable"]


def test_small_shares_are_left_out() -> None:
    taken = Taken()
    take = sample_of(taken)
    step(take, 9)
    take(91)
    assert taken.names() == ["take(91)"]


def test_the_lines_of_a_loop_in_a_library_are_not_the_users() -> None:
    train = function_of(os.path.join(INSTALLED, "trainer.py"), "train")
    taken = Taken()
    taken.samples = StepSamples(frozenset({train.__code__}))
    train(sample_of(taken), 5)
    assert taken.names() == []
    train(step, sample_of(taken), 5)
    assert taken.names() == ["step"]


def test_a_thread_samples_and_leaves_nothing_behind() -> None:
    before = sys.getswitchinterval(), threading.active_count(), sys.getprofile()
    profile = StepProfile()
    profile.stop()
    profile.start()
    assert sys.getprofile() is None
    while not profile.functions():
        step(time.sleep, 0.01)
    profile.stop()
    profile.stop()
    assert (sys.getswitchinterval(), threading.active_count(), sys.getprofile()) == before
    assert "step" in [entry["name"] for entry in profile.functions()]


def test_a_block_tells_the_functions_of_its_steps(tmp_path: Any) -> None:
    pytest.importorskip("torch")
    from torch.utils.data import DataLoader

    from engine import TestEngine
    from loaders import Member  # noqa: F401
    from measured import measure

    answers = []

    def script(engine: TestEngine) -> None:
        last = len(engine.greet()["chain"]["stages"])
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        answers.append(engine.run(boundary=last, steps=20, profile=True, observed=False))
        answers.append(engine.run(boundary=last, steps=4))
        engine.finish()

    threads = threading.active_count()
    measure(DataLoader(list(range(64)), batch_size=4), script, tmp_path, step=slow_step)
    profiled, plain = answers
    assert "prepared" in [entry["name"] for entry in profiled["step_functions"]]
    assert all(entry["movable"] for entry in profiled["step_functions"])
    assert plain["step_functions"] == []
    assert threading.active_count() == threads


def prepared(batch: Any) -> Any:
    time.sleep(0.01)
    return batch


def slow_step(batch: Any) -> None:
    prepared(batch)
