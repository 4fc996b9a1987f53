"""The tools that assistants call, and the server that offers them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cachebisect import _mcp

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("CACHEBISECT_BINARY") or str(ROOT / "build/release/bin/cachebisect")
needs_command = pytest.mark.skipif(
    not os.access(COMMAND, os.X_OK), reason="the command is not built"
)

SCHEMA = {
    "properties": {
        "verdict": {"properties": {"drop": {}, "rank": {"description": "of a job"}}},
        "stages": {
            "description": "all",
            "items": {"properties": {"drop": {"description": "share lost"}}},
        },
    }
}


def test_a_figure_is_explained_by_the_schema() -> None:
    assert _mcp.meaning(SCHEMA, "stages[2].drop") == "stages: all; drop: share lost"
    assert _mcp.meaning(SCHEMA, "verdict") == "it has drop, rank"
    assert "units" in _mcp.meaning(SCHEMA, "verdict.drop")
    with pytest.raises(ValueError, match="there are drop, rank"):
        _mcp.meaning(SCHEMA, "verdict.dorp")


def test_the_value_of_a_figure_is_that_of_its_place() -> None:
    document = {"stages": [{"drop": 0.25}]}
    assert _mcp.value_at(document, "stages[0].drop") == 0.25
    for wrong in ("stages[1].drop", "stages.drop", "stages[0].drop.x", "verdict"):
        with pytest.raises(ValueError, match="has no"):
            _mcp.value_at(document, wrong)


def recording(folder: Path) -> Path:
    """The recording of a short run of a planted chain."""
    file = folder / "run.json"
    words = [COMMAND, "--pipeline", str(ROOT / "pipelines/starved.json"), "--budget", "1"]
    words += ["--no-explain", "--sustain", "0", "--quiet", "--json", str(file)]
    subprocess.run(words, check=True)
    return file


@needs_command
def test_a_recording_is_reported_and_explained(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", COMMAND)
    file = recording(tmp_path)
    markdown = asyncio.run(_mcp.report(str(file)))
    assert markdown.startswith("#") and "samples/s" in markdown
    strict = asyncio.run(_mcp.report(str(file), min_drop="80%"))
    assert strict != markdown
    explained = asyncio.run(_mcp.explain("settings.min_drop", str(file)))
    assert explained.endswith("value: 0.05")
    with pytest.raises(_mcp.CommandFailed, match="cannot be opened"):
        asyncio.run(_mcp.report(str(tmp_path / "none.json")))


@needs_command
def test_a_command_that_trains_on_nothing_is_told_with_its_own_words(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("CACHEBISECT_BINARY", COMMAND)
    command = [sys.executable, "-c", "raise SystemExit('no data here')"]
    with pytest.raises(_mcp.CommandFailed, match="no data here"):
        asyncio.run(_mcp.bisect(command, str(tmp_path), budget_seconds=1))


@needs_command
def test_the_server_offers_three_tools(tmp_path: Path, monkeypatch: Any) -> None:
    client_of = pytest.importorskip("mcp").Client
    monkeypatch.setenv("CACHEBISECT_BINARY", COMMAND)
    file = recording(tmp_path)

    async def talk() -> tuple[set[str], str]:
        async with client_of(_mcp.make_server()) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            answer = await client.call_tool(
                "explain", {"figure": "settings.min_drop", "recording": str(file)}
            )
            return tools, json.dumps([part.model_dump(mode="json") for part in answer.content])

    tools, answer = asyncio.run(talk())
    assert tools == {"bisect", "report", "explain"}
    assert "value: 0.05" in answer


def test_without_the_sdk_the_server_says_what_to_install(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(_mcp, "find_binary", lambda: "cachebisect")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert _mcp.main() == 2
    assert "pip install 'cachebisect[mcp]'" in capsys.readouterr().err
