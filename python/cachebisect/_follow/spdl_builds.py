"""Sees what each pipeline of SPDL is built from: a pipeline itself does not tell its stages."""

from __future__ import annotations

import contextlib
import functools
import sys
from types import ModuleType
from typing import Any

from .._chain.spdl_built import note_built
from .after_import import after_import

LIBRARY = "spdl"
_PACKAGE = "spdl.pipeline"
_NAME = "build_pipeline"


def follow_builds() -> None:
    """Before the script imports it, or after."""
    after_import(_PACKAGE, _replace)


def _replace(package: ModuleType) -> None:
    original = getattr(package, _NAME, None)
    if original is None:
        return

    @functools.wraps(original)
    def build_pipeline(config: Any, /, **build: Any) -> Any:
        pipeline = original(config, **build)
        with contextlib.suppress(Exception):
            note_built(pipeline, config, build)
        return pipeline

    for name, module in [*sys.modules.items()]:
        if name.startswith(_PACKAGE) and getattr(module, _NAME, None) is original:
            setattr(module, _NAME, build_pipeline)
