"""JPEG images that a worker decodes at a part of their size: `decode_scale` of a live arm.

libjpeg makes an image of a half, a quarter or an eighth of its width and height from fewer
coefficients. Stays until the worker ends.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Callable

_REDUCED = {2: 16, 4: 32, 8: 64}
"""cv2's flags for a reduced image, without colour, by the scale."""
_COLOR = 1
"""cv2.IMREAD_COLOR, the default. Other flags are left as they are."""
_OF_CV2 = ("imread", "imdecode")


def decode_at(scale: int) -> None:
    """JPEG images that PIL and cv2 open from now on in this process come with 1 / `scale` of their
    width and height: 2, 4 or 8, or the next one below. Not thread safe."""
    with contextlib.suppress(ImportError):
        image = importlib.import_module("PIL.Image")
        vars(image)["open"] = _drafting(image.open, scale)
    reduced = max(known for known in _REDUCED if known <= max(scale, min(_REDUCED)))
    with contextlib.suppress(ImportError):
        cv2 = importlib.import_module("cv2")
        for name in _OF_CV2:
            vars(cv2)[name] = _reducing(getattr(cv2, name), _REDUCED[reduced] | _COLOR)


def _drafting(original: Callable[..., Any], scale: int) -> Callable[..., Any]:
    @functools.wraps(original)
    def open_image(*args: Any, **kwargs: Any) -> Any:
        image = original(*args, **kwargs)
        if image.format in ("JPEG", "MPO"):
            image.draft(image.mode, (image.width // scale, image.height // scale))
        return image

    return open_image


def _reducing(original: Callable[..., Any], flags: int) -> Callable[..., Any]:
    @functools.wraps(original)
    def read(source: Any, given: int = _COLOR) -> Any:
        return original(source, flags if given == _COLOR else given)

    return read
