"""Which transforms of torchvision may change places with a crop behind them: those that work on
each pixel by itself. Nothing is known of transforms of other libraries.

Reads attributes, calls nothing. Thread safe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

from .slots import callable_name, find_slots

PIXELWISE = frozenset({
    "ColorJitter", "ConvertImageDtype", "Grayscale", "Normalize", "PILToTensor", "RandomGrayscale",
    "RandomInvert", "RandomPosterize", "RandomSolarize", "ToDtype", "ToImage", "ToTensor",
})  # fmt: skip
"""Without contrast, which depends on the mean of the image."""
CROPS = frozenset({"CenterCrop", "RandomCrop"})
BEFORE = " before "
"""Between the two stages of a move, as the engine reads it."""

_MEMBER = re.compile(r"(.*)\[(\d+)\] ")


def moves(dataset: Any, plan: Sequence[str]) -> tuple[str, ...]:
    """What crops of `dataset` may do, "transforms[3] before transforms[1]": each as far up as it
    goes. `plan`: the names of the stages of samples, in order."""
    by_name = {slot.name: slot.get() for slot in find_slots(dataset)}
    found = []
    for number, name in enumerate(plan):
        if not is_crop(by_name.get(name)):
            continue
        first = number
        while first > 0 and _follows(plan[first - 1], plan[first]):
            if not is_pixelwise(by_name.get(plan[first - 1])):
                break
            first -= 1
        if first < number:
            found.append(f"{name.split()[0]}{BEFORE}{plan[first].split()[0]}")
    return tuple(found)


def moved(plan: Sequence[str], move: str) -> Optional[tuple[str, ...]]:
    """The stages of `plan` from the one that is passed first to the crop; None if it has none."""
    crop, _, first = move.partition(BEFORE)
    words = [name.split()[0] for name in plan]
    if words.count(crop) != 1 or words.count(first) != 1:
        return None
    return tuple(plan[words.index(first) : words.index(crop) + 1])


def is_crop(transform: Any) -> bool:
    """It selects pixels, and makes none."""
    if not _is_torchvisions(transform, CROPS):
        return False
    padding = getattr(transform, "padding", None)
    return padding in (None, 0) and not getattr(transform, "pad_if_needed", False)


def is_pixelwise(transform: Any) -> bool:
    """What it makes of a pixel depends on that pixel, and on numbers that it draws for the whole
    image."""
    known = _is_torchvisions(transform, PIXELWISE)
    return known and getattr(transform, "contrast", None) is None


def _is_torchvisions(transform: Any, names: frozenset[str]) -> bool:
    module = getattr(type(transform), "__module__", "") or ""
    return module.startswith("torchvision.transforms") and callable_name(transform) in names


def _follows(before: str, name: str) -> bool:
    """Both are members of one container, one behind the other."""
    one, other = _MEMBER.match(before), _MEMBER.match(name)
    if one is None or other is None or one[1] != other[1]:
        return False
    return int(one[2]) + 1 == int(other[2])
