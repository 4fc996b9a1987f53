"""Found first on PYTHONPATH by every Python process that `cachebisect run`, `time` or `prepare`
starts.

Runs the sitecustomize that it hides, then cachebisect's own start. The package is loaded from where
this file lies, so that it need not be installed for the script's Python. Where it is installed,
cachebisect.pth has run this file before: `python -I` and `-E` and another sitecustomize on
PYTHONPATH keep the other way shut.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

TYPE_CHECKING = False  # Replaces that of typing, which takes a while to import.
if TYPE_CHECKING:
    from typing import Any

_STARTED = "_cachebisect_has_started"
_VARIABLES = ("CACHEBISECT_TIME", "CACHEBISECT_PREPARE", "CACHEBISECT_SOCKET")
"""One of them is set by the command."""
_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_hidden() -> None:
    others = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _PackageFinder:
    """Finds the package that this file is part of, whatever the script's Python has installed."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name != "cachebisect":
            return None
        folder = os.path.dirname(_HERE)
        file = os.path.join(folder, "__init__.py")
        return importlib.util.spec_from_file_location(
            name, file, submodule_search_locations=[folder]
        )


def _load(name: str, file: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _tell_of_training() -> None:
    from cachebisect._script.training_child import tell

    tell()


def _start() -> None:
    if hasattr(sys, _STARTED):
        return
    setattr(sys, _STARTED, True)
    if not any(os.environ.get(name) for name in _VARIABLES):
        return
    sys.meta_path.insert(0, _PackageFinder)
    if os.environ.get("CACHEBISECT_TIME"):
        from cachebisect._timing.startup import start

        start()
    elif os.environ.get("CACHEBISECT_PREPARE"):
        from cachebisect._prepare_script.startup import start

        start()
    else:
        # Without the package: most children have nothing to do with it.
        file = os.path.join(os.path.dirname(_HERE), "_script", "child_processes.py")
        processes = _load("cachebisect._script.child_processes", file)
        if processes.is_multiprocessing_child(processes.command_line()):
            processes.call_when_trained(_tell_of_training)
            return
        from cachebisect._script.startup import start

        start()


try:
    if __name__ == "sitecustomize":
        _run_hidden()
finally:
    try:
        _start()
    except Exception as error:  # The script is worth more than its measurement.
        print(f"cachebisect: not measured: {error}", file=sys.stderr)
