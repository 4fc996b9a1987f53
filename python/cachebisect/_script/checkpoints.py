"""Keeps what measured steps save away from the script's own checkpoints.

The state of a job that is being measured is no product: it would take the place of one. Not thread
safe, but for the functions that are replaced: scripts save from threads, too.
"""

from __future__ import annotations

import functools
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
_MAX_LISTED = 10

Replacement = Callable[[Callable[..., Any]], Callable[..., Any]]


class Checkpoints:
    """Calls of torch.save() and of safetensors go to a temporary folder, and those of frameworks
    do nothing, from start() to stop()."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._calls: dict[str, int] = {}
        self._folder: Optional[str] = None

    def start(self) -> None:
        """Replaces the functions of what has been imported by now."""
        self._replace(sys.modules.get("torch"), "save", self._elsewhere)
        for name in _SERIALIZERS:
            self._replace(sys.modules.get(name), "serialize_file", self._elsewhere)
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
            setattr(owner, name, functools.wraps(original)(replacement(original)))

    def _note(self, what: str) -> None:
        self._calls[what] = self._calls.get(what, 0) + 1

    def _skipped(self, what: str, _original: Callable[..., Any]) -> Callable[..., Any]:
        def call(_self: Any, *args: Any, **_options: Any) -> Any:
            self._note(what)
            return args[0] if what.endswith("save_state") and args else None

        return call

    def _elsewhere(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`original(what, path, ...)` with another path; a file that is open stays what it is."""

        def call(what: Any, file: Any, *args: Any, **options: Any) -> Any:
            if not isinstance(file, (str, os.PathLike)):
                return original(what, file, *args, **options)
            self._note(os.fspath(file))
            try:
                return original(what, self._path_for(os.fspath(file)), *args, **options)
            except (OSError, RuntimeError):  # No room there: that is no fault of the script.
                return None

        return call

    def _path_for(self, path: str) -> str:
        """One file for each name: repeated saving takes no more room than in the script."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="cachebisect-checkpoints-")
        number = list(self._calls).index(path)
        return os.path.join(self._folder, f"{number}-{os.path.basename(path)}")
