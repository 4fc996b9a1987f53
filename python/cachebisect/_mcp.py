"""An MCP server for assistants: bisect a command, read a report, explain a figure.

`cachebisect mcp` starts it on standard input and output. It needs the SDK: cachebisect[mcp].
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from typing import Any, Optional

from ._engine.command import EngineError, find_binary
from ._version import __version__

_END_SECONDS = 20.0
"""What the command may take to end after Ctrl-C, before it is killed."""
_MOST_OUTPUT = 4000
"""Characters of what a failed command wrote: its end tells why."""

INSTRUCTIONS = (
    "cachebisect finds the stage of an input pipeline that starves a training job. Use bisect on "
    "the command that trains; it takes up to a minute, and keeps a recording. report shows a "
    "recording again, also for another smallest drop. explain says what a figure means."
)


class CommandFailed(RuntimeError):
    """What a command wrote before it failed."""


async def _output_of(words: list[str], folder: Optional[str] = None) -> str:
    """Standard output of a command. Raises CommandFailed; a cancelled call ends the command."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        start_new_session=True,
    )
    try:
        out, errors = await process.communicate()
    except asyncio.CancelledError:
        await _end(process)
        raise
    if process.returncode != 0:
        told = (errors + out).decode(errors="replace")[-_MOST_OUTPUT:]
        raise CommandFailed(f"{words[1]} ended with exit code {process.returncode}:\n{told}")
    return out.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGINT)
    try:
        await asyncio.wait_for(process.communicate(), _END_SECONDS)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()


def _new_recording() -> str:
    return os.path.join(tempfile.mkdtemp(prefix="cachebisect-"), "run.json")


async def bisect(command: list[str], folder: str = ".", budget_seconds: float = 60) -> str:
    """Which stage of the input pipeline holds this training command back, and what to do.

    Runs the command until its first batches train, measures it for at most budget_seconds, and
    ends it. Returns the report as Markdown, and the path of its recording.

    Args:
        command: the words of the command line: ["python", "train.py", "--epochs", "1"]
        folder: in which the command is started
        budget_seconds: of measuring, at most
    """
    recording = _new_recording()
    words = [find_binary(), "run", "--budget", str(budget_seconds), "--no-progress"]
    words += ["--format", "markdown", "--json", recording, "--", *command]
    return f"{await _output_of(words, folder)}\nRecording: {recording}\n"


async def report(recording: str, min_drop: Optional[str] = None) -> str:
    """The report of a recording (of --json) as Markdown, with what its numbers mean.

    Args:
        recording: path of the JSON file
        min_drop: the smallest drop worth naming, such as "3%"; that of the run by default
    """
    words = [find_binary(), "report", recording, "--format", "markdown", "--explain"]
    return await _output_of(words + (["--min-drop", min_drop] if min_drop else []))


async def explain(figure: str, recording: Optional[str] = None) -> str:
    """What a figure of the JSON report means, and its value in a recording.

    Args:
        figure: its place: "verdict.drop", "stages[2].cpu_seconds_per_sample"
        recording: path of a JSON file; without it only the meaning is given
    """
    schema = json.loads(await _output_of([find_binary(), "schema", "report"]))
    text = f"{figure}: {meaning(schema, figure)}"
    if recording is None:
        return text
    with open(recording, encoding="utf-8") as file:
        return f"{text}\nvalue: {json.dumps(value_at(json.load(file), figure))}"


def steps_of(figure: str) -> list[str]:
    """["stages", "2", "drop"] of "stages[2].drop"."""
    return [step for step in re.split(r"[.\[\]]+", figure) if step]


def meaning(schema: dict[str, Any], figure: str) -> str:
    """What the schema says of a place, with the nearest parts above it that it describes.

    Raises ValueError that names the keys which are there.
    """
    told = []
    place = schema
    for step in steps_of(figure):
        if step.isdigit() and "items" in place:
            place = place["items"]
            continue
        known = place.get("properties", {})
        if step not in known:
            raise ValueError(f"no {step!r} in {figure!r}; there are {', '.join(known) or 'none'}")
        place = known[step]
        if "description" in place:
            told.append(f"{step}: {place['description']}")
    parts = ", ".join(place.get("properties", place.get("items", {}).get("properties", {})))
    told += [f"it has {parts}"] if parts else []
    return "; ".join(told) or "as its name says; units are part of the names"


def value_at(document: Any, figure: str) -> Any:
    """Raises ValueError for a place that the document does not have."""
    for step in steps_of(figure):
        try:
            document = document[int(step)] if isinstance(document, list) else document[step]
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(f"the recording has no {figure!r}") from None
    return document


def make_server() -> Any:
    """The server with its tools. Raises ImportError without the SDK."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("cachebisect", version=__version__, instructions=INSTRUCTIONS)
    for tool in (bisect, report, explain):
        server.tool()(tool)
    return server


def main() -> int:
    """Serves until standard input ends. Returns the exit code."""
    try:
        find_binary()
        server = make_server()
    except EngineError as error:
        print(f"cachebisect: {error}", file=sys.stderr)
        return 2
    except ImportError:
        print(
            "cachebisect: the MCP SDK is not installed in this Python: "
            "pip install 'cachebisect[mcp]' (Python 3.10 or newer)",
            file=sys.stderr,
        )
        return 2
    server.run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
