"""The first training loader of a script is found, and its dataset prepared; there the script ends.

Not thread safe: only the main thread of the process that runs the script is followed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .._cache.entry import NotCacheable
from .._follow.loaders import Level, Open
from .._prepare.api import check_arguments, prepare_with
from .._prepare.contents import FolderRefused
from .._prepare.folder import write_whole
from .._prepare.pieces import SampleFailed
from .._prepare.plan import Asked
from .._prepare.summary import Prepared
from .._script.seen_loaders import SeenLoaders

USAGE, DATA = "usage", "data"
_SECONDS = 2.0
"""Between two lines of progress."""
_SHARD = 128 << 20


class PreparingSession:
    """A LoaderSubscriber. `options`: of the environment.

    folder: where to write; result: the file of JSON that is written at the end, {"ok": true, table,
    summary, lines} or {"ok": false, error, kind}. after, shard_bytes, workers, version, frozen,
    dry_run: as prepare() takes them. loader: number of the loader in the order in which the script
    iterates them, from 1; null: the first one that is iterated while gradients are computed.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        wanted = options.get("loader")
        self._options = options
        self._wanted = None if wanted is None else int(wanted)
        self._loaders = SeenLoaders(self._wanted)
        self._opened: list[Any] = []
        """Loaders whose iterators are being made, the outermost first."""
        self._process = os.getpid()
        self._over = False

    def opens(self, loader: Any) -> bool:
        return any(opened is loader for opened in self._opened)

    def iterator(self, loader: Any, original: Open, _level: Level) -> Iterator[Any]:
        if self._over and os.getpid() == self._process:
            raise SystemExit(0)  # The script has caught the first one: it must not train.
        if self._follows() and not self._opened and self._is_wanted(loader):
            self._over = True
            self._prepare(loader)
            raise SystemExit(0)
        self._opened.append(loader)
        try:
            return original(loader)
        finally:
            self._opened.pop()

    def _follows(self) -> bool:
        """False in children, in other threads and after the end."""
        return (
            not self._over
            and os.getpid() == self._process
            and threading.current_thread() is threading.main_thread()
        )

    def _is_wanted(self, loader: Any) -> bool:
        try:
            number = self._loaders.number_of(loader)
        except Exception:  # The script is worth more than what is prepared of it.
            return False
        if self._wanted is not None:
            return number == self._wanted
        return bool(sys.modules["torch"].is_grad_enabled())

    def _prepare(self, loader: Any) -> None:
        """Writes the result, whatever happens."""
        try:
            result = self._result(loader)
        except Exception as error:
            result = _failure(error)
        try:
            path = Path(str(self._options["result"]))
            write_whole(path, json.dumps(result))
        except (OSError, KeyError) as error:
            print(f"cachebisect: the result cannot be written: {error}", file=sys.stderr)

    def _result(self, loader: Any) -> dict[str, Any]:
        options = self._options
        folder = Path(str(options["folder"])).absolute()
        asked = Asked(
            options.get("after"), bool(options.get("frozen")), str(options.get("version") or "")
        )
        shard_bytes = options.get("shard_bytes") or _SHARD
        workers = int(options.get("workers") or 0)
        try:
            check_arguments(loader.dataset, asked, shard_bytes, workers)
        except (TypeError, ValueError) as error:
            return _failed(USAGE, str(error))
        found = prepare_with(
            loader.dataset, folder, asked, shard_bytes, workers,
            bool(options.get("dry_run")), _Progress().note,
        )  # fmt: skip
        return {
            "ok": True,
            "table": [vars(row) for row in found.boundaries],
            "summary": {**found.to_dict(), "loader": self._name(loader)},
            "text": str(found),
            "lines": _lines(found, self._name(loader)),
        }

    def _name(self, loader: Any) -> str:
        return self._loaders.name_of(self._loaders.number_of(loader))


class _Progress:
    """Tells on stderr every few seconds how far it is."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def note(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._told < _SECONDS:
            return
        self._told = now
        try:
            print(f"prepared {done:,} of {total:,} samples", file=sys.stderr, flush=True)
        except (OSError, ValueError, AttributeError):  # Nobody reads it.
            pass


def _lines(found: Prepared, loader: str) -> list[str]:
    """What to write into the script. `loader`: in words."""
    return [
        "import cachebisect",
        f"dataset = cachebisect.prepared(dataset, {found.folder!r})  # before {loader} is made",
    ]


def _failure(error: Exception) -> dict[str, Any]:
    if isinstance(error, SampleFailed):
        inner = error.error
        return _failed(DATA, f"sample {error.index}: {type(inner).__name__}: {inner}")
    if isinstance(error, (NotCacheable, FolderRefused)):
        return _failed(USAGE, str(error))
    print(traceback.format_exc(), file=sys.stderr)
    words = str(error.strerror or error) if isinstance(error, OSError) else str(error)
    return _failed(DATA, f"{type(error).__name__}: {words}")


def _failed(kind: str, error: str) -> dict[str, Any]:
    return {"ok": False, "error": error, "kind": kind}
