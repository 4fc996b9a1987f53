"""Keeps the plain attributes of an object, such as the position of a sampler. Not thread safe."""

from __future__ import annotations

from typing import Any

_PLAIN = (type(None), bool, int, float, str, bytes)


class KeptAttributes:
    """The attributes of an object that are plain values or lists of them, such as a position."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._kept = {
            name: list(value) if type(value) is list else value
            for name, value in getattr(owner, "__dict__", {}).items()
            if _is_plain(value)
        }

    def restore(self) -> None:
        if not self._kept:
            return
        vars(self._owner).update(
            {n: list(v) if type(v) is list else v for n, v in self._kept.items()}
        )


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(type(item) in _PLAIN for item in value)
    return type(value) in _PLAIN
