"""Keeps what measured steps save away from the script's own checkpoints.

The state of a job that is being measured is no product: it would take the place of one. Not thread
safe, but for the functions that are replaced: scripts save from threads, too.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, Callable, Optional

from .diverted import DivertedFiles
from .parameter import Parameter, path_of

_SERIALIZERS = ("safetensors.torch", "safetensors.numpy")
_CHECKPOINT_IO = ("lightning.fabric.plugins.io.torch_io", "lightning_fabric.plugins.io.torch_io")
"""Modules of Lightning that have `TorchCheckpointIO`."""
_SKIPPED = (
    ("transformers.trainer", "Trainer", "_save_checkpoint"),
    ("accelerate.accelerator", "Accelerator", "save_state"),
    ("accelerate.accelerator", "Accelerator", "load_state"),
)
"""Methods of frameworks that write, rotate or read folders with whole checkpoints."""
_READS = (
    ("torch", "load"),
    ("safetensors.torch", "load_file"),
    ("safetensors.numpy", "load_file"),
    ("lightning.pytorch.core.saving", "pl_load"),
    ("pytorch_lightning.core.saving", "pl_load"),
)
_MOVES = (
    ("os", ("replace", "rename", "link")),
    ("shutil", ("copyfile", "copy", "copy2", "move")),
)
_REMOVALS = (("os", "remove"), ("os", "unlink"), ("shutil", "rmtree"))
_SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors", "pytorch_model.bin")
"""Name endings of files that hold the state of training. Other ".bin" files are data: caches of
streamed data sets remove theirs."""
_MAX_LISTED = 10

Replacement = Callable[[Callable[..., Any]], Callable[..., Any]]


class Checkpoints:
    """From start() to stop() calls of torch.save(), of safetensors and of Lightning go to a
    temporary folder, moving such a file does nothing, checkpoints are not removed, and those of
    other frameworks are not written. What went to the folder is loaded from there, also later if
    its own place stays empty: the script must find what it has saved."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._reading: list[tuple[Any, str, Any]] = []
        self._calls: dict[str, int] = {}
        self._told: set[str] = set()
        self._files = DivertedFiles()
        self._states: set[str] = set()
        """Folders that Accelerator.save_state() would have written."""
        self._runs = False
        self._pid = os.getpid()

    def start(self) -> None:
        """Replaces the functions of what has been imported by now."""
        self._runs = True
        self._replace(sys.modules.get("torch"), "save", self._elsewhere)
        for name in _SERIALIZERS:
            self._replace(sys.modules.get(name), "serialize_file", self._elsewhere)
        for module, names in _MOVES:
            for name in names:
                self._replace(sys.modules.get(module), name, self._moves_or_not)
        for module, name in _REMOVALS:
            self._replace(sys.modules.get(module), name, self._removes_or_not)
        for module, owner, name in _SKIPPED:
            kind = getattr(sys.modules.get(module), owner, None)
            self._replace(kind, name, functools.partial(self._skipped, f"{owner}.{name}"))
        for module in _CHECKPOINT_IO:
            kind = getattr(sys.modules.get(module), "TorchCheckpointIO", None)
            self._replace(kind, "save_checkpoint", functools.partial(self._elsewhere, at=2))
            self._replace(kind, "remove_checkpoint", functools.partial(self._removes_or_not, at=1))
            loads = functools.partial(self._from_there, at=1)
            self._replace(kind, "load_checkpoint", loads, self._reading)
        for module, name in _READS:
            self._replace(sys.modules.get(module), name, self._from_there, self._reading)

    def stop(self) -> Optional[str]:
        """Puts everything back, but what loads files if some are in the folder. Returns what was
        saved, in words; None if nothing was."""
        self._runs = False
        _put_back(self._replaced)
        if not self._files:
            _put_back(self._reading)
        return self._in_words()

    def new(self) -> list[str]:
        """What was saved since the last call and not before, in order."""
        found = [what for what in list(self._calls) if what not in self._told]
        self._told.update(found)
        return found

    def _in_words(self) -> Optional[str]:
        if not self._calls:
            return None
        listed = [
            what if count == 1 else f"{what} ({count} times)" for what, count in self._calls.items()
        ]
        more = f" and {len(listed) - _MAX_LISTED} more" if len(listed) > _MAX_LISTED else ""
        return (
            "measured steps saved their state, which was not kept: "
            f"{', '.join(listed[:_MAX_LISTED])}{more}"
        )

    def _replace(
        self,
        owner: Any,
        name: str,
        replacement: Replacement,
        replaced: Optional[list[tuple[Any, str, Any]]] = None,
    ) -> None:
        """`replaced`: takes the original, to put it back; by default `_replaced`."""
        original = getattr(owner, name, None)
        if callable(original):
            (self._replaced if replaced is None else replaced).append((owner, name, original))
            setattr(owner, name, self._in_this_process(original, replacement(original)))

    def _in_this_process(
        self, original: Callable[..., Any], replacement: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Workers that are forked meanwhile have nothing to do with checkpoints."""

        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:
            chosen = replacement if os.getpid() == self._pid else original
            return chosen(*args, **options)

        return call

    def _note(self, what: str) -> None:
        self._calls[what] = self._calls.get(what, 0) + 1

    def _skipped(self, what: str, original: Callable[..., Any]) -> Callable[..., Any]:
        parameter = Parameter(original, 1)

        def call(*args: Any, **options: Any) -> Any:
            folder = parameter.path(args, options)
            if what.endswith("load_state"):
                return None if folder in self._states else original(*args, **options)
            self._note(what)
            if not what.endswith("save_state"):
                return None
            self._states.add(folder)
            return folder or None

        return call

    def _elsewhere(self, original: Callable[..., Any], at: int = 1) -> Callable[..., Any]:
        """`original` with another path as argument number `at`; an open file stays what it is."""
        parameter = Parameter(original, at)

        def call(*args: Any, **options: Any) -> Any:
            path = parameter.path(args, options)
            if not path:
                return original(*args, **options)
            self._note(path)
            try:
                return parameter.call(original, args, options, self._files.place(path))
            except (OSError, RuntimeError):  # No room there: that is no fault of the script.
                return None

        return call

    def _from_there(self, original: Callable[..., Any], at: int = 0) -> Callable[..., Any]:
        """`original` with the file that stands for its argument number `at`, if there is one."""
        parameter = Parameter(original, at)

        def call(*args: Any, **options: Any) -> Any:
            path = parameter.path(args, options)
            found = self._files.find(path)
            if found is None or (not self._runs and os.path.exists(path)):
                return original(*args, **options)
            return parameter.call(original, args, options, found)

        return call

    def _moves_or_not(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`original(source, target)`, such as of a temporary file that was written before."""

        def call(source: Any, target: Any, *args: Any, **options: Any) -> Any:
            if path_of(source) not in self._calls:
                return original(source, target, *args, **options)
            self._note(path_of(target))
            self._files.move(path_of(source), path_of(target))
            return target

        return call

    def _removes_or_not(self, original: Callable[..., Any], at: int = 0) -> Callable[..., Any]:
        """`original(path)`: older checkpoints stay, since none takes their place."""
        parameter = Parameter(original, at)

        def call(*args: Any, **options: Any) -> Any:
            path = parameter.path(args, options)
            if not self._is_checkpoint(path):
                return original(*args, **options)
            if self._files.find(path) is not None:
                self._files.remove(path)
            else:
                self._note(f"removal of {path}")
            return None

        return call

    def _is_checkpoint(self, path: str) -> bool:
        if path in self._calls or path.endswith(_SUFFIXES):
            return True
        try:
            return os.path.isdir(path) and any(n.endswith(_SUFFIXES) for n in os.listdir(path))
        except OSError:
            return False


def _put_back(replaced: list[tuple[Any, str, Any]]) -> None:
    for owner, name, original in reversed(replaced):
        setattr(owner, name, original)
    replaced.clear()
