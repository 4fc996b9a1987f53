"""Unchanged scripts of frameworks, measured by a test engine: blocks of fixed work."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from engine import TestEngine
from hooked import run_file

SCRIPTS = Path(__file__).resolve().parent / "scripts"


@pytest.mark.parametrize(
    "framework,script",
    [
        ("lightning", "lightning_trainer.py"),
        ("transformers", "hf_trainer.py"),
        ("accelerate", "accelerate_loop.py"),
    ],
)
def test_every_boundary_of_a_framework_s_loop(framework: str, script: str, tmp_path: Any) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    if framework == "transformers":
        library: Any = importlib.import_module(framework)
        if not library.utils.is_torch_available():
            pytest.skip("this transformers needs a newer torch")
    blocks: list[Any] = []

    def measure(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        stages = [stage["name"] for stage in described["chain"]["stages"]]
        assert stages[1:3] == ["transforms[0] Member", "transforms[1] SlowMember"], stages
        assert stages[0].startswith("read ")
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        engine.ask("begin_round")
        blocks.extend(engine.run(boundary=b, steps=8) for b in range(len(stages) + 1))
        engine.ask("finish", then="exit", exit_code=7, text="")

    done = run_file(tmp_path, measure, SCRIPTS / script)
    assert done.returncode == 7, done.stderr
    assert "end" not in done.stdout
    assert [(block["void"], block["steps"]) for block in blocks] == [(False, 8)] * len(blocks)
    # SlowMember is stage 3: it works for boundaries 0 to 2, and its output is served after that.
    slow = [block["stages"][2]["samples"] for block in blocks]
    assert all(slow[:3]) and not any(slow[3:]), slow
