"""Observing never changes a loop, whatever its batches are and whatever fails in our code."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._script.guard import Guard
from engine import TestEngine
from hooked import STEP, run_script

HEAD = f"""{STEP}
class Items(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        return torch.full((4,), float(index))
"""

SPARSE = """
class Sparse(Items):
    def __getitem__(self, index):
        return torch.eye(4).to_sparse()

for x in DataLoader(Sparse(), batch_size=None):
    step(x.to_dense())
print("end")
"""

JAGGED = """
def collate(items):
    return torch.nested.nested_tensor(items, layout=torch.jagged)

for x in DataLoader(Items(), batch_size=4, collate_fn=collate):
    step(x.values().reshape(-1, 4))
print("end")
"""

KEYS_ARE_A_PROPERTY = """
class Graph:
    def __init__(self, x):
        self.x = x

    @property
    def keys(self):
        return ["x"]

    def __getitem__(self, key):
        return getattr(self, key)

for g in DataLoader(Items(), batch_size=4, collate_fn=lambda items: Graph(torch.stack(items))):
    step(g.x)
print("end")
"""

KEYS_WITHOUT_END = """
class Column:
    def __init__(self, x):
        self.x = x

    def keys(self):
        return [0]

    def __getitem__(self, key):
        return Column(self.x)

for c in DataLoader(Items(), batch_size=4, collate_fn=lambda items: Column(torch.stack(items))):
    step(c.x)
print("end")
"""


@pytest.mark.parametrize("text", [SPARSE, JAGGED, KEYS_ARE_A_PROPERTY, KEYS_WITHOUT_END])
def test_every_kind_of_batch_is_measured(text: str, tmp_path: Any) -> None:
    if text is JAGGED and not hasattr(torch, "jagged"):
        pytest.skip("torch before 2.1 has no jagged tensors")

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        stages = len(described["chain"]["stages"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for boundary in range(stages + 1):
            assert engine.run(boundary=boundary, steps=4)["steps"] == 4
        engine.finish()

    done = run_script(tmp_path, script, HEAD + text)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr
    assert done.stderr.count("cachebisect") == 0, done.stderr


PLAIN = """
import sys
def fails(*args, **kwargs):
    raise LookupError("planted")

{sabotage}
for x in DataLoader(Items(), batch_size=4):
    step(x)
print("end")
"""

HOOKS = [
    ("_job.pass_through", "PassThrough.before_batch"),
    ("_job.pass_through", "PassThrough.after_batch"),
    ("_script.script_iterator", "ScriptIterator.__init__"),
    ("_script.script_iterator", "ScriptIterator._begins"),
    ("_script.seen_loaders", "SeenLoaders.number_of"),
    ("_script.seen_loaders", "SeenLoaders.note_batches"),
    ("_script.step_pattern", "StepPattern.enter"),
    ("_script.session", "Session._sees"),
    ("_script.session", "Session._wrap"),
    ("_script.session", "Session._count_step"),
    ("_script.loaders_of_step", "LoadersOfStep.chooses"),
    ("_script.session", "Session.take_over"),
    ("_script.refusals", "LateAnswer.is_due"),
]


@pytest.mark.parametrize("module,name", HOOKS)
def test_an_error_of_ours_hands_the_batches_over(module: str, name: str, tmp_path: Any) -> None:
    done = run_sabotaged(module, name, "continue", tmp_path)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_the_engine_may_end_a_script_that_is_not_measured(tmp_path: Any) -> None:
    done = run_sabotaged("_script.session", "Session._wrap", "exit", tmp_path)
    assert done.returncode == 3 and done.stdout == "", done.stderr


def run_sabotaged(module: str, name: str, then: str, tmp_path: Any) -> Any:
    owner, function = name.split(".")
    sabotage = f"setattr(sys.modules['cachebisect.{module}'].{owner}, {function!r}, fails)"
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())
        engine.ask("finish", then=then, exit_code=3, text="")

    done = run_script(tmp_path, script, HEAD + PLAIN.format(sabotage=sabotage))
    assert answers[0]["type"] == "error" and answers[0]["kind"] == "internal", answers
    assert "failed while it observed the loop: LookupError: planted" in answers[0]["text"]
    assert "planted" not in done.stderr
    return done


def test_a_guard_keeps_the_first_error_and_runs_nothing_more() -> None:
    guard = Guard()
    assert guard.observe(lambda a: a + 1, 2) == 3 and guard.failure is None
    assert guard.observe(lambda: 1 // 0) is None
    assert "ZeroDivisionError" in str(guard.failure) and "test_observing.py:" in str(guard.failure)
    assert guard.observe(pytest.fail, "it runs") is None


def test_a_guard_lets_the_end_of_the_program_through() -> None:
    def end() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        Guard().observe(end)
