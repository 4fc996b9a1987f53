"""Programs without torch: nothing of it is imported, and other iterables can be measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parents[1] / "python"

SCRIPT = """
import sys
sys.modules["torch"] = None  # `import torch` fails, as where it is not installed.
import cachebisect
report = cachebisect.bisect([[1.0, 2.0], [3.0, 4.0]], lambda batch: batch.append(5.0))
described = report.to_dict()["answers"][0]
print([stage["name"] for stage in described["chain"]["stages"]])
print(report)
"""


def run(text: str, tmp_path: Path, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "TMPDIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_list_of_batches_is_measured_without_torch(tmp_path: Path) -> None:
    command = tmp_path / "cachebisect"
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "fake_cachebisect.py"}" "$@"\n'
    )
    command.chmod(0o755)
    done = run(SCRIPT, tmp_path, CACHEBISECT_BINARY=str(command))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['loader list']\nthe terminal report\n\n"


def test_importing_the_package_imports_no_torch_and_no_numpy(tmp_path: Path) -> None:
    text = "import cachebisect, sys; print({'torch', 'numpy', 'PIL'} & set(sys.modules))"
    assert run(text, tmp_path).stdout == "set()\n"
