"""Tells children of multiprocessing from other Python processes, and sees if one of them trains.

Loaded by every Python process of `cachebisect run`: imports nothing that Python has not imported by
then, because most children are workers that it has nothing to do with.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # Replaces that of typing, which takes a while to import.
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

_TRAINING_STEPS = 100
_OPTIMIZERS = "torch.optim.optimizer"
_CHILDREN = ("--multiprocessing-fork", "multiprocessing.spawn", "multiprocessing.forkserver",
             "multiprocessing.resource_tracker", "multiprocessing.semaphore_tracker")  # fmt: skip


def is_multiprocessing_child(command_line: list[str]) -> bool:
    """True for the command line of a process that multiprocessing has started."""
    return any(word in argument for argument in command_line for word in _CHILDREN)


def command_line() -> list[str]:
    """The command line of this process, with the options of Python."""
    own = getattr(sys, "orig_argv", None)  # Python 3.10
    if own is not None:
        return list(own)
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return list(getattr(sys, "argv", []))


def call_when_trained(act: Callable[[], None]) -> None:
    """Calls `act()` once, in the step of a torch optimizer that is the 100th of this process."""
    sys.meta_path.insert(0, _OptimizerFinder(act))


class _OptimizerFinder:
    """Finds torch.optim.optimizer by the other finders, and adds to what executes it."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if name != _OPTIMIZERS:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _count_after(spec.loader, self._act)
        return spec


def _count_after(loader: Any, act: Callable[[], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        from .._follow.optimizer_steps import follow_steps

        follow_steps(module, _Counter(act))

    loader.exec_module = exec_module


class _Counter:
    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._left = _TRAINING_STEPS

    def __call__(self, *_arguments: Any) -> None:
        self._left -= 1
        if self._left == 0:
            self._act()
