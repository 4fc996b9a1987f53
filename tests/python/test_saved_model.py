"""A model that PyTorch saved, as in docs/use/pipeline-file.md, trained by the built command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from commands import ROOT, bisect_with_libtorch, needs_command

pytestmark = needs_command


def block(page: str, language: str, part: str) -> str:
    """The code block of this language that contains `part`."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return next(text for text in blocks if part in text)


def test_the_model_of_the_document_is_saved_and_trained(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "use" / "pipeline-file.md").read_text()
    (tmp_path / "save.py").write_text(block(page, "python", "torch.jit.script"))
    (tmp_path / "own.json").write_text(block(page, "json", '"module"'))
    subprocess.run([sys.executable, "save.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "model.pt").is_file()
    done = bisect_with_libtorch(tmp_path, "own.json", budget=5)
    assert done.returncode == 0, done.stderr
    assert "step: model.pt (TorchScript), cross_entropy, sgd, fp32" in " ".join(done.stdout.split())
