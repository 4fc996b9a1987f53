"""Containers of members, without torch."""

from __future__ import annotations

from typing import Any


class Compose:
    def __init__(self, transforms: Any) -> None:
        self.transforms = transforms

    def __call__(self, x: Any) -> Any:
        for member in self.transforms:
            x = member(x)
        return x
