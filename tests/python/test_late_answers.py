"""Scripts that train without a loader that can be measured: they are told so after 100 steps."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

pytest.importorskip("torch")

from cachebisect._script import refusals
from cachebisect._script.refusals import LateAnswer
from cachebisect._script.seen_loaders import SeenLoaders
from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

ENDLESS = 100_000
"""Steps that no test would wait for."""

NO_LOADER = f"""
for number in range({ENDLESS}):
    step(torch.rand(4, 4))
"""

GENERATOR = f"""
def batches():
    while True:
        yield torch.rand(4, 4)

validation = DataLoader(Items(), batch_size=400)
for number, x in enumerate(batches()):
    if number == 3:
        with torch.no_grad():
            for y in validation:
                model(y)
    step(x)
    assert number < {ENDLESS}
"""

SPAWNED = f"""
import torch.multiprocessing as mp

def train(rank):
    for number in range({ENDLESS}):
        step(torch.rand(4, 4))

if __name__ == "__main__":
    mp.start_processes(train, nprocs=1, start_method={{method!r}})
"""


def refusal(tmp_path: Any, text: str, then: str = "exit") -> tuple[str, Any]:
    """What the engine is told instead of a description, and how the script ended."""
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())
        engine.ask("finish", then=then, exit_code=2, text="")

    done = run_script(tmp_path, script, HEAD + text)
    assert (answers[0]["type"], answers[0]["kind"]) == ("error", "usage"), answers
    return answers[0]["text"], done


def test_a_loop_without_a_loader(tmp_path: Any) -> None:
    text, done = refusal(tmp_path, NO_LOADER)
    assert done.returncode == 2
    assert text == (
        "train.py has trained 100 steps (the last at train.py:11), and no batch of a torch "
        "DataLoader was taken between them; for other iterators, use --iterator "
        "package.module:Class, or call cachebisect.bisect(loader, step) in the script"
    )


def test_a_loop_without_a_loader_may_go_on(tmp_path: Any) -> None:
    _, done = refusal(tmp_path, NO_LOADER.replace(str(ENDLESS), "120") + "print('end')", "continue")
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_loaders_that_are_seen_elsewhere_are_listed(tmp_path: Any) -> None:
    text, _ = refusal(tmp_path, GENERATOR)
    assert "DataLoaders seen elsewhere: 1: DataLoader(Items, batch_size=400" in text


def test_training_in_a_forked_child(tmp_path: Any) -> None:
    answer_second_process(tmp_path, SPAWNED.format(method="fork"))


def test_training_in_a_spawned_child(tmp_path: Any) -> None:
    answer_second_process(tmp_path, SPAWNED.format(method="spawn"))


def answer_second_process(tmp_path: Any, text: str) -> None:
    """The script connects first, and waits; its child connects after 100 steps."""
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.ask("hello", protocol=1, engine="test")
        engine.accept_another()
        answers.append(engine.greet())
        engine.ask("finish", then="exit", exit_code=2, text="")

    run_script(tmp_path, script, HEAD + text, fresh=True)
    assert (answers[0]["type"], answers[0]["kind"]) == ("error", "usage"), answers
    assert "training runs in a child of multiprocessing" in answers[0]["text"]


def test_a_pass_over_the_data_before_training_is_no_training(tmp_path: Any) -> None:
    text = """
total = 0
for x in DataLoader(Items(), batch_size=2):
    total += x.sum()
train = DataLoader(Items(), batch_size=4)
for epoch in range(3):
    for x in train:
        step(x)
print("end")
"""

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["chain"]["train"] == "step, SGD", described
        assert described["chain"]["batch_size"] == 4
        engine.finish()

    done = run_script(tmp_path, script, HEAD + text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_a_short_script_says_how_much_is_needed(tmp_path: Any) -> None:
    text, done = refusal(
        tmp_path,
        """
for number, x in enumerate(DataLoader(Items(), batch_size=4)):
    if number == 20:
        break
    step(x)
""",
    )
    assert done.returncode == 0
    assert text.startswith("train.py ended after 21 batches; a verdict usually needs 10 to 60 s")


def test_many_steps_with_one_batch_are_waited_for(tmp_path: Any) -> None:
    text = """
for x in DataLoader(Items(), batch_size=10):
    for _ in range(150):
        step(x)
print("end")
"""

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        engine.finish()

    done = run_script(tmp_path, script, HEAD + text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_a_loader_that_gives_nothing_any_more_is_given_up() -> None:
    late = LateAnswer()
    late.note_candidate(5)
    assert not late.is_due(100) and late.is_due(1005)


def test_a_rank_without_batches_of_its_own_is_named(monkeypatch: Any) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delitem(sys.modules, "accelerate.data_loader", raising=False)
    text = LateAnswer().reason(100, SeenLoaders())
    assert text.startswith("rank 1 of ") and text.endswith(
        "every rank must read batches of its own"
    )
    monkeypatch.setitem(sys.modules, "accelerate.data_loader", sys)
    assert "dispatch_batches=False" in LateAnswer().reason(100, SeenLoaders())


def test_a_library_that_makes_batches_is_named(monkeypatch: Any) -> None:
    for library in ("grain", "spdl.dataloader", "spdl.pipeline", "ray.data"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.setitem(sys.modules, "grain", types.ModuleType("grain"))
    assert "use --iterator grain:IterDataset" in refusals._remedy(1)
