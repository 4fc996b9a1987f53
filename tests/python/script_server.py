"""Runs scripts in forks of one process that has imported torch, which takes seconds each time, and
what torch imports for the first optimizer, which takes as long again.

Reads one JSON object per line: `path` of the script, `hook`, `environment`, `out` and `err`: files.
Answers each with a line: the exit code, negative for a signal. Run by hooked.py.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import runpy
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import torch
import torch.utils.data

with contextlib.suppress(ImportError):  # Before torch 2.
    import torch._dynamo  # noqa: F401


def run(path: str) -> int:
    """As `python path` does."""
    sys.path[0] = os.path.dirname(path)
    try:
        runpy.run_path(path, run_name="__main__")
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        traceback.print_exc()
        return 1


def child(request: dict[str, Any]) -> None:
    """Never returns."""
    code = 1
    try:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = [request["path"]]
        hook = Path(request["hook"]) / "sitecustomize.py"
        names = {"__name__": "sitecustomize", "__file__": str(hook)}
        exec(compile(hook.read_text(), str(hook), "exec"), names)
        code = run(request["path"])
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
