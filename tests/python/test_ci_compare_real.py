"""The step of action.yml with the built command: it accepts what scripts/ci_compare calls it with,
and what the scripts print is no part of the comparison."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from ci_action import ROOT, Step
from commands import COMMAND, HOOK, SCRIPT, needs_command

pytestmark = needs_command

CALLS = f"""#!/bin/sh
shift
exec {shlex.quote(str(COMMAND))} compare "$@"
"""


def compared(folder: Path, inputs: dict[str, str]) -> tuple[Step, Any]:
    step = Step(folder, {"fail-on": "live<-99%\nlive>+9900%", "json": "out put.json", **inputs})
    (folder / "programs/cachebisect").write_text(CALLS)
    code = step.run()
    assert code == 0, step.out
    assert step.outputs() == {"exit-code": "0", "json": "out put.json"}
    assert step.summary().lstrip().startswith("### cachebisect compare\n")
    return step, json.loads((folder / "out put.json").read_text())


def test_pipelines(tmp_path: Path) -> None:
    pipeline = str(ROOT / "pipelines/starved.json")
    inputs = {"before": pipeline, "after": pipeline, "budget": "1"}
    _, found = compared(tmp_path, {**inputs, "kind": "pipelines", "options": "--device=emulated"})
    assert found["paired"] is True
    assert [gate["gate"] for gate in found["gates"]] == ["live<-99%", "live>+9900%"]


def test_reports(tmp_path: Path) -> None:
    words = ["--pipeline", str(ROOT / "pipelines/starved.json"), "--device", "emulated"]
    words += ["--no-explain", "--budget", "1", "--json", str(tmp_path / "a.json")]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([str(COMMAND), *words], check=True, env=environment)
    inputs = {"kind": "reports", "before": "a.json", "after": "./a.json"}
    _, found = compared(tmp_path, inputs)
    assert found["paired"] is False


def test_scripts_that_print(tmp_path: Path) -> None:
    text = SCRIPT.replace("WORKERS", "0").replace("METHOD", "None").replace("LATE", "pass")
    (tmp_path / "a b.py").write_text('print("### loud")\n' + text)
    inputs = {
        "before": "cd .\npython 'a b.py'",
        "after": "echo first; python 'a b.py' | cat",
        "budget": "2",
        "options": f"--hook={HOOK}",
    }
    step, found = compared(tmp_path, inputs)
    assert found["paired"] is True
    assert found["b"]["source"].endswith("echo first; python 'a b.py' | cat")
    assert "### loud" in step.out and "first" in step.out
    assert "loud" not in step.summary()
