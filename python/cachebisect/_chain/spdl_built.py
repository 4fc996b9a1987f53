"""The pipelines of SPDL that a script has built, and what they were built from."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterable
from typing import Any, Optional

from .spdl_pipeline import SpdlPipeline

_built: weakref.WeakKeyDictionary[Any, SpdlPipeline] = weakref.WeakKeyDictionary()


def note_built(pipeline: Any, config: Any, build: dict[str, Any]) -> None:
    """`pipeline` was built of `config`, and has not begun. `build`: arguments of build_pipeline().
    What cannot be described is left out."""
    try:
        _built[pipeline] = SpdlPipeline(config, build).apart()
    except Exception:  # Another version of SPDL, or what cannot be copied.
        return


def built_of(opened: Any, made_from: Iterable[Any]) -> Optional[SpdlPipeline]:
    """What the pipeline was built from that is among `made_from`, or is run by the generator
    `opened`; None if there is none, or its stages cannot be measured one by one."""
    frame = getattr(opened, "gi_frame", None) if inspect.isgenerator(opened) else None
    near = [*made_from, *(frame.f_locals.values() if frame is not None else ())]
    for value in near:
        try:
            found = _built.get(value)
        except TypeError:  # It cannot be a key.
            continue
        if found is not None:
            return None if found.why_not else found
    return None
