"""Found first on PYTHONPATH by every Python process that `cachebisect run` or `time` starts.

Runs the sitecustomize that it hides, then cachebisect's own start. The package is loaded from where
this file lies, so that it need not be installed for the script's Python.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_hidden() -> None:
    others = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _start() -> None:
    times = bool(os.environ.get("CACHEBISECT_TIME"))
    if not times and not os.environ.get("CACHEBISECT_SOCKET"):
        return
    package = os.path.dirname(_HERE)
    if "cachebisect" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "cachebisect",
            os.path.join(package, "__init__.py"),
            submodule_search_locations=[package],
        )
        if spec is None or spec.loader is None:
            return
        module = importlib.util.module_from_spec(spec)
        sys.modules["cachebisect"] = module
        spec.loader.exec_module(module)
    if times:
        from cachebisect._timing.startup import start
    else:
        from cachebisect._script.startup import start
    start()


try:
    _run_hidden()
finally:
    try:
        _start()
    except Exception as error:  # The script is worth more than its measurement.
        print(f"cachebisect: not measured: {error}", file=sys.stderr)
