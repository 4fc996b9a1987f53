"""examples/adapter/adapter.py: a training loop without torch, measured over the protocol."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = ROOT / "examples" / "adapter" / "adapter.py"
COMMAND = os.environ.get("CACHEBISECT_BINARY") or str(ROOT / "build/release/bin/cachebisect")
LINES = 60
"""Most lines of code of "an adapter in 60 lines"."""
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip

needs_command = pytest.mark.skipif(
    not os.access(COMMAND, os.X_OK), reason="the command is not built"
)


def run_adapter(report: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "run", "--budget", "5", "--quiet", "--json", str(report), *options]
    return subprocess.run(
        [*command, "--", sys.executable, str(ADAPTER)], capture_output=True, text=True
    )


def test_it_is_as_short_as_the_page_says() -> None:
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(ADAPTER.read_text()).readline):
        is_text = token.type == tokenize.STRING and token.string.startswith('"""')
        if token.type not in _NO_CODE and not is_text:
            code.update(range(token.start[0], token.end[0] + 1))
    assert len(code) <= LINES
    assert "torch" not in ADAPTER.read_text().replace("without torch", "")


@needs_command
def test_its_report_speaks_in_its_own_terms(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    ended = run_adapter(file)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(file.read_text())
    assert [stage["name"] for stage in report["stages"]] == ["read", "tokenize"]
    assert not report["recording"]["chain"]["settings"]["of_file"]
    text = json.dumps(report["remedies"]) + json.dumps(report["warnings"])
    assert "DataLoader" not in text and "/stages" not in text and "--workers" not in text


@needs_command
def test_a_what_if_that_it_does_not_name_is_refused(tmp_path: Path) -> None:
    ended = run_adapter(tmp_path / "report.json", "--what-if", "num_workers=2")
    assert ended.returncode == 2
    assert 'there is no "num_workers"' in ended.stderr
