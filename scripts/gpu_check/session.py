"""Commands of a part, each with a limit, and their output in the part's log."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

from .results import SKIP, Results

ROOT = Path(__file__).resolve().parents[2]
PART_SECONDS = 540.0
_PATIENCE = 5.0
"""Seconds that a command gets to end after SIGTERM."""


class Options(NamedTuple):
    out: Path
    build: Path
    python: Optional[str]
    """A Python with torch; None: one is looked for."""
    dry_run: bool


class Done(NamedTuple):
    """A command that ran. `code` is None if it took too long, or could not be started."""

    code: Optional[int]
    out: str
    err: str

    def reason(self) -> str:
        """Why it failed, in one line."""
        if self.code is None:
            return self.err
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return f"exit {self.code}: {lines[-1][:300] if lines else 'no message'}"


class Session:
    """One part: its options, results, log, and the time that it has left."""

    def __init__(self, part: str, options: Options, seconds: float = PART_SECONDS) -> None:
        self.options = options
        self.results = Results(part, options.out / f"{part}.jsonl")
        self._log = options.out / f"{part}.log"
        self._log.write_text("")
        self._reports = options.out / f"{part}.reports"
        shutil.rmtree(self._reports, ignore_errors=True)
        self._reports.mkdir()
        self._deadline = time.monotonic() + seconds

    @property
    def dry_run(self) -> bool:
        return self.options.dry_run

    @property
    def device(self) -> str:
        """For pipelines whose step is emulated too."""
        return "emulated" if self.dry_run else "cuda"

    @property
    def model_device(self) -> str:
        return "cpu" if self.dry_run else "cuda"

    def seconds(self, real: float, dry: float) -> float:
        return dry if self.dry_run else real

    def left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def log(self, text: str) -> None:
        with self._log.open("a") as file:
            file.write(text.rstrip("\n") + "\n")

    def run(
        self,
        command: Sequence[str],
        seconds: float,
        environment: Optional[Mapping[str, str]] = None,
        interrupt_after: Optional[float] = None,
    ) -> Done:
        """Runs it for at most `seconds`; with `interrupt_after`, sends Ctrl-C by then."""
        limit = min(seconds, self.left())
        self.log(f"\n$ {' '.join(command)}")
        if limit < 1:
            done = Done(None, "", "the part has no time left")
        else:
            done = _run(command, limit, environment, interrupt_after)
        self.log(f"{done.out}\n{done.err}\n[{done.code}]")
        return done

    def python_with_torch(self) -> Optional[str]:
        """The Python of the options, else this one or that of build/venv; None if there is none."""
        given = self.options.python
        for python in [given] if given else [sys.executable, str(ROOT / "build/venv/bin/python")]:
            if self.run([python, "-c", "import torch"], 120).code == 0:
                return python
        return None

    def program(self, path: str) -> Optional[str]:
        """A file of the build; None if it was not built."""
        file = self.options.build / path
        return str(file) if os.access(file, os.X_OK) else None

    def bisect(self, pipeline: Mapping[str, Any], budget: float, *words: str) -> Bisected:
        """Runs the tool on a pipeline of ours, whose data is generated."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{pipeline['name']}.json"
            file.write_text(json.dumps(pipeline))
            return self.bisect_file(file, budget, *words)

    def bisect_file(self, file: Path, budget: float, *words: str, **how: Any) -> Bisected:
        command = ["--pipeline", str(file), *words]
        return self.bisect_command(command, budget, 3 * budget + 60, **how)

    def bisect_command(
        self, words: Sequence[str], budget: float, seconds: float, **how: Any
    ) -> Bisected:
        """Runs the tool with these words, and options before them; keeps the report."""
        report = self._reports / f"{len(list(self._reports.iterdir())) + 1}.json"
        tool = str(self.options.build / "bin/cachebisect")
        subcommand = [] if words[0].startswith("-") else [words[0]]
        command = [tool, *subcommand, "--budget", f"{budget:g}", "--json", str(report)]
        command += ["--no-progress", "--color", "never", *words[len(subcommand) :]]
        done = self.run(command, seconds, **how)
        text = report.read_text() if report.exists() else ""
        return Bisected(done, json.loads(text) if text else None)

    def skip(self, name: str, reason: str) -> None:
        self.results.add(SKIP, name, reason)


class Bisected(NamedTuple):
    done: Done
    report: Optional[Any]


def _run(
    command: Sequence[str],
    seconds: float,
    environment: Optional[Mapping[str, str]],
    interrupt_after: Optional[float],
) -> Done:
    """In a process group of its own, of which nothing is left."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, **(environment or {})}, preexec_fn=_heed_interrupts,
            )  # fmt: skip
        except OSError as error:
            return Done(None, "", f"{command[0]}: {error.strerror}")
        code = _wait(process, seconds, interrupt_after)
        out.seek(0)
        err.seek(0)
        late = f"took more than {seconds:.0f} s" if code is None else ""
        return Done(code, out.read(), (late + "\n" + err.read()).strip())


def _heed_interrupts() -> None:
    """A shell starts its background jobs with SIGINT ignored, and their children inherit it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _wait(
    process: subprocess.Popen[bytes], seconds: float, interrupt_after: Optional[float]
) -> Optional[int]:
    began = time.monotonic()
    try:
        if interrupt_after is not None:
            try:
                return process.wait(interrupt_after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
        return process.wait(max(0.0, seconds - (time.monotonic() - began)))
    except subprocess.TimeoutExpired:
        _kill(process)
        return None
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_PATIENCE)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
