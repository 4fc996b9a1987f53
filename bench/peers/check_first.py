#!/usr/bin/env python3
"""Checks the first batch that `loader --first FILE` wrote: check_first.py CASE FILE."""

from __future__ import annotations

import sys

import numpy as np

import cases


def main(case: str, path: str) -> None:
    wanted = cases.CASES[case]
    size = wanted.batch * int(np.prod(wanted.shape)) * np.dtype(wanted.dtype).itemsize
    data = np.fromfile(path, np.uint8)
    images = data[:size].view(wanted.dtype).reshape(wanted.batch, *wanted.shape)
    cases.check(case, images, data[size:].view(np.int64))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ValueError as error:
        sys.exit(f"{sys.argv[2]}: {error}")
