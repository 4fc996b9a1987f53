"""Sizes in bytes as users write them. Thread safe: no state."""

from __future__ import annotations

import re
from typing import Union

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kKMGT]?i?)B?\s*")


def size_in_bytes(name: str, value: Union[int, str], least: int) -> int:
    """`value` as bytes: a number, or a text such as "8GiB" or "500 MB".

    Raises TypeError or ValueError, which call it `name`, also below `least` bytes.
    """
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(f'{name}={value!r}: give bytes, or a text such as "8GiB"')
    size = value if isinstance(value, int) else _parsed(name, value)
    if size < least:
        raise ValueError(f"{name}={value!r}: at least {least} bytes are needed")
    return size


def in_words(size: float) -> str:
    """Such as "8.6 GB"."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def _parsed(name: str, text: str) -> int:
    match = _SIZE.fullmatch(text)
    unit = match[2].replace("K", "k" if match[2] == "K" else "K") if match else ""
    scale = {**_UNITS, **_BINARY}.get(unit)
    if match is None or scale is None:
        raise ValueError(f'{name}={text!r} is no size; write it as "8GiB" or "500 MB"')
    return int(float(match[1]) * scale)
