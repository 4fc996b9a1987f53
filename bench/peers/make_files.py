#!/usr/bin/env python3
"""Writes what a case reads, from the generated photos, unless it is there: make_files.py CASE.

zarr_windows: an array as zarr-python writes it (version 3, Zstandard); its chunks are the windows.
webdataset_rrc224: tar archives of 200 photos each.
"""

from __future__ import annotations

import io
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

import cases

IMAGES = 512
PER_ARCHIVE = 200


def small_photo(path: str) -> Any:
    """uint8 [2 * WINDOW, 2 * WINDOW, 3]."""
    import cv2

    side = 2 * cases.WINDOW
    image = cv2.imread(path, cv2.IMREAD_COLOR)[:, :, ::-1]
    return cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA)


def write_array(folder: Path) -> None:
    import zarr

    photos = cases.photos()[:: max(1, len(cases.photos()) // IMAGES)][:IMAGES]
    images = np.stack([small_photo(path) for path, _label in photos])
    group = zarr.open_group(folder, mode="w")
    chunks = (1, cases.WINDOW, cases.WINDOW, 3)
    group.create_array("images", data=images, chunks=chunks)
    group.create_array("labels", data=np.array([label for _path, label in photos], np.int64))


def add_member(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def write_archives(folder: Path) -> None:
    folder.mkdir(parents=True)
    photos = cases.photos()
    order = np.random.default_rng(1).permutation(len(photos)).tolist()
    for number, begin in enumerate(range(0, len(order), PER_ARCHIVE)):
        with tarfile.open(folder / f"photos-{number:06d}.tar", "w") as archive:
            for index in order[begin : begin + PER_ARCHIVE]:
                path, label = photos[index]
                add_member(archive, f"{index:06d}.jpg", Path(path).read_bytes())
                add_member(archive, f"{index:06d}.cls", str(label).encode())


def main(case: str) -> None:
    made, write = {
        "zarr_windows": (cases.zarr_group(), write_array),
        "webdataset_rrc224": (cases.archive_folder(), write_archives),
    }[case]
    if made.exists():
        return
    partial = made.with_name(made.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    write(partial)
    partial.rename(made)


if __name__ == "__main__":
    main(*sys.argv[1:])
