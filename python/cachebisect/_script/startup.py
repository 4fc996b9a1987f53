"""What runs in each Python process of `cachebisect run`, before the script.

Connects to the engine, answers its greeting, and waits for torch to be imported. Does nothing that
can stop the script. Children of multiprocessing do not come here.
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Callable, Optional

SOCKET = "CACHEBISECT_SOCKET"
LOADER = "CACHEBISECT_LOADER"
"""Number of the loader that is measured, from 1."""
SAMPLES = "CACHEBISECT_SAMPLES_PER_BATCH"
"""What each batch counts as."""
THEN = "CACHEBISECT_THEN"
""" "exit": the script does not go on after it was measured."""
PROTECT = "CACHEBISECT_PROTECT"
""" "0": what measured steps save goes where the script says."""
_GREETING_SECONDS = 30.0
"""An engine that is silent for longer must not hold up the script."""


def start() -> None:
    """Called once by sitecustomize."""
    path = os.environ.get(SOCKET)
    if not path:
        return
    from .._engine.adapter import Adapter
    from .._engine.messages import Connection, ConnectionLost
    from .loader_hooks import install, watch_backward, watch_optimizers
    from .seen_loaders import SeenLoaders
    from .session import Session

    wanted = os.environ.get(LOADER)

    try:
        connection = Connection.open(path, timeout=0)  # Gone once a loader is measured.
        connection.limit_waiting(_GREETING_SECONDS)
        Adapter(connection, _no_job).answer_greeting()
        connection.limit_waiting(None)
    except ConnectionLost:
        return
    loaders = SeenLoaders(int(wanted) if wanted else None)
    samples = os.environ.get(SAMPLES)
    protects = os.environ.get(PROTECT) != "0"
    ends = os.environ.get(THEN) == "exit"
    session = Session(connection, loaders, protects, int(samples) if samples else None, ends)
    atexit.register(session.explain)
    after_import("torch.utils.data.dataloader", lambda module: install(session, module))
    after_import("torch.autograd", lambda module: watch_backward(session, module))
    after_import("torch.optim.optimizer", lambda module: watch_optimizers(session, module))


def after_import(name: str, act: Callable[[ModuleType], None]) -> None:
    """Calls `act(module)` once the module `name` has been imported; at once if it is already."""
    if name in sys.modules:
        act(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, act))


class _AfterImport(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, act: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._act = act

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._act)
        return spec


class _Loader(importlib.abc.Loader):
    """The module's own loader, and then the action."""

    def __init__(self, loader: Any, act: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._act = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        created: Optional[ModuleType] = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        try:
            self._act(module)
        except Exception as error:  # The script is worth more than its measurement.
            print(f"cachebisect: not measured: {error}", file=sys.stderr)


def _no_job(_writes_batches: bool) -> Any:
    raise RuntimeError("no loader has been found yet")
