"""Finds and starts the `cachebisect` command that measures this process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, Any, Optional

_NAME = "cachebisect"
_END_SECONDS = 10.0


class EngineError(RuntimeError):
    """The engine could not be started, or it ended without a report."""


def find_binary() -> str:
    """Path of the command: $CACHEBISECT_BINARY, the scripts of this Python, then PATH.

    Raises EngineError.
    """
    named = os.environ.get("CACHEBISECT_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise EngineError(f"CACHEBISECT_BINARY is {named}, which cannot be executed")
        return named
    installed = os.path.join(sysconfig.get_path("scripts"), _NAME)
    found = installed if os.access(installed, os.X_OK) else shutil.which(_NAME)
    if found is None:
        raise EngineError(
            "the command cachebisect was not found: install the package (pip install cachebisect), "
            "or set CACHEBISECT_BINARY to its path"
        )
    return found


class Engine:
    """A running engine and its folder. Use as a context manager: no process is left behind."""

    def __init__(self, options: Sequence[str], progress: bool = True) -> None:
        self._folder = tempfile.mkdtemp(prefix="cachebisect-")  # Its mode is 0700.
        self.socket = os.path.join(self._folder, "socket")
        self._out = os.path.join(self._folder, "report")
        os.mkdir(self._out)
        try:
            self._start(options, progress)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _start(self, options: Sequence[str], progress: bool) -> None:
        command = [find_binary(), "attach", "--socket", self.socket, "--out", self._out]
        command += [*options] if progress else ["--no-progress", *options]
        stderr = None if _has_descriptor(sys.stderr) else subprocess.PIPE
        # A session of its own: Ctrl-C reaches it once, through interrupt().
        self._process = _Process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # The caller prints the report, or not.
            stderr=stderr,
            start_new_session=True,
        )
        if self._process.stderr is not None:
            threading.Thread(
                target=_copy_lines, args=(self._process.stderr, sys.stderr), daemon=True
            ).start()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self.interrupt()
        self.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def exit_code(self) -> Optional[int]:
        """None while it runs."""
        return self._process.poll()

    def interrupt(self) -> None:
        """As Ctrl-C: the engine ends the block and writes the report so far."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> int:
        """Waits for its end, at most _END_SECONDS; then it is killed. Returns the exit code."""
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def report_files(self) -> dict[str, bytes]:
        """What it wrote of the report, by extension: ".json", ".html" and so on."""
        files = {}
        for name in os.listdir(self._out):
            stem, extension = os.path.splitext(name)
            if stem == "report":
                with open(os.path.join(self._out, name), "rb") as file:
                    files[extension] = file.read()
        return files


class _Process(subprocess.Popen[bytes]):
    """Ends what it has started if Ctrl-C arrives before the constructor returns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().__init__(*args, **kwargs)
        except BaseException:
            if getattr(self, "pid", None) is not None:
                self.kill()
                self.wait()
            raise


def _has_descriptor(stream: Any) -> bool:
    try:
        return bool(stream.fileno() == 2)
    except (AttributeError, OSError, ValueError):
        return False


def _copy_lines(source: IO[bytes], target: Any) -> None:
    """In a notebook sys.stderr is no file: what the engine says is handed on."""
    for line in source:
        target.write(line.decode("utf-8", "replace"))
