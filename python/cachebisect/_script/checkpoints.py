"""Keeps what measured steps save away from the script's own checkpoints.

The state of a job that is being measured is no product: it would take the place of one. Not thread
safe, but for the functions that are replaced: scripts save from threads, too.
"""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import sys
import tempfile
from typing import Any, Callable, Optional

_SERIALIZERS = ("safetensors.torch", "safetensors.numpy")
_SKIPPED = (
    ("lightning.fabric.plugins.io.torch_io", "TorchCheckpointIO", "save_checkpoint"),
    ("lightning.fabric.plugins.io.torch_io", "TorchCheckpointIO", "remove_checkpoint"),
    ("lightning_fabric.plugins.io.torch_io", "TorchCheckpointIO", "save_checkpoint"),
    ("lightning_fabric.plugins.io.torch_io", "TorchCheckpointIO", "remove_checkpoint"),
    ("transformers.trainer", "Trainer", "_save_checkpoint"),
    ("accelerate.accelerator", "Accelerator", "save_state"),
)
"""Methods of frameworks that write, rotate or remove whole checkpoints."""
_MOVES = (
    ("os", ("replace", "rename", "link")),
    ("shutil", ("copyfile", "copy", "copy2", "move")),
)
_REMOVALS = (("os", "remove"), ("os", "unlink"), ("shutil", "rmtree"))
_SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors", "pytorch_model.bin")
"""Of files that hold the state of training. Other ".bin" files are data: caches of streamed data
sets remove theirs."""
_MAX_LISTED = 10

Replacement = Callable[[Callable[..., Any]], Callable[..., Any]]


class Checkpoints:
    """From start() to stop() calls of torch.save() and of safetensors go to a temporary folder,
    moving such a file does nothing, checkpoints are not removed, and those of frameworks are not
    written."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._calls: dict[str, int] = {}
        self._told: set[str] = set()
        self._folder: Optional[str] = None
        self._pid = os.getpid()

    def start(self) -> None:
        """Replaces the functions of what has been imported by now."""
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

    def stop(self) -> Optional[str]:
        """Puts everything back. Returns what was saved, in words; None if nothing was."""
        for owner, name, original in reversed(self._replaced):
            setattr(owner, name, original)
        self._replaced.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
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

    def _replace(self, owner: Any, name: str, replacement: Replacement) -> None:
        original = getattr(owner, name, None)
        if callable(original):
            self._replaced.append((owner, name, original))
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

    def _skipped(self, what: str, _original: Callable[..., Any]) -> Callable[..., Any]:
        def call(_self: Any, *args: Any, **_options: Any) -> Any:
            self._note(what)
            return args[0] if what.endswith("save_state") and args else None

        return call

    def _elsewhere(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`original(what, path, ...)` with another path; a file that is open stays what it is."""
        name = _second_name(original)

        def call(*args: Any, **options: Any) -> Any:
            file = args[1] if len(args) > 1 else options.get(name)
            if not isinstance(file, (str, os.PathLike)):
                return original(*args, **options)
            self._note(os.fspath(file))
            other = self._path_for(os.fspath(file))
            if len(args) > 1:
                args = (args[0], other, *args[2:])
            else:
                options[name] = other
            try:
                return original(*args, **options)
            except (OSError, RuntimeError):  # No room there: that is no fault of the script.
                return None

        return call

    def _moves_or_not(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`original(source, target)`, such as of a temporary file that was written before."""

        def call(source: Any, target: Any, *args: Any, **options: Any) -> Any:
            if _path(source) not in self._calls:
                return original(source, target, *args, **options)
            self._note(_path(target))
            return target

        return call

    def _removes_or_not(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`original(path)`: older checkpoints stay, since none takes their place."""

        def call(path: Any, *args: Any, **options: Any) -> Any:
            if not self._is_checkpoint(_path(path)):
                return original(path, *args, **options)
            self._note(f"removal of {_path(path)}")
            return None

        return call

    def _is_checkpoint(self, path: str) -> bool:
        if path in self._calls or path.endswith(_SUFFIXES):
            return True
        try:
            return os.path.isdir(path) and any(n.endswith(_SUFFIXES) for n in os.listdir(path))
        except OSError:
            return False

    def _path_for(self, path: str) -> str:
        """One file for each name: repeated saving takes no more room than in the script."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="cachebisect-checkpoints-")
        number = list(self._calls).index(path)
        return os.path.join(self._folder, f"{number}-{os.path.basename(path)}")


def _second_name(function: Callable[..., Any]) -> str:
    """Of its second parameter, by which it may be given."""
    try:
        return list(inspect.signature(function).parameters)[1]
    except (ValueError, TypeError, IndexError):  # It tells nothing of itself.
        return "filename"


def _path(value: Any) -> str:
    try:
        return str(os.fspath(value))
    except TypeError:  # A file descriptor.
        return ""
