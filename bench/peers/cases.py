"""What each case of `peers.py` reads and delivers, and whether a batch is right.

All peers read the files of bench/pipelines/: CIFAR records, MNIST's IDX files, JPEG photos, and
what make_files.py writes: a Zarr array, and tar archives of the photos.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SIDE = 224
WINDOW = 128


class Case(NamedTuple):
    batch: int
    shape: tuple[int, ...]  # of a sample, as delivered
    dtype: str


CASES = {
    "jpeg_rrc224": Case(64, (SIDE, SIDE, 3), "uint8"),
    "fakecifar_resize224": Case(32, (3, SIDE, SIDE), "float32"),
    "cifar_raw": Case(512, (32, 32, 3), "uint8"),
    "mnist_norm": Case(64, (1, 28, 28), "float32"),
    "zarr_windows": Case(64, (WINDOW, WINDOW, 3), "uint8"),
    "webdataset_rrc224": Case(64, (SIDE, SIDE, 3), "uint8"),
}
PHOTOS = ("jpeg_rrc224", "webdataset_rrc224")

MNIST_MEAN, MNIST_STD = 0.1307, 0.3081


def data_folder() -> Path:
    """Where pipelines with `${cache}` in a path keep generated data."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "cachebisect"


def cifar() -> tuple[Any, Any]:
    """Images [n, 32, 32, 3] and labels."""
    folder = data_folder() / "cifar-10"
    files = [np.fromfile(folder / f"data_batch_{i}.bin", np.uint8) for i in range(1, 6)]
    records = np.concatenate(files).reshape(-1, 3073)
    planes = records[:, 1:].reshape(-1, 3, 32, 32)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), records[:, 0].astype(np.int64)


def mnist() -> tuple[Any, Any]:
    """Images [n, 28, 28] and labels."""
    folder = data_folder() / "mnist"
    images = np.fromfile(folder / "train-images-idx3-ubyte", np.uint8, offset=16)
    labels = np.fromfile(folder / "train-labels-idx1-ubyte", np.uint8, offset=8)
    return images.reshape(-1, 28, 28), labels.astype(np.int64)


def photos() -> list[tuple[str, int]]:
    """Paths and labels."""
    folder = data_folder() / "photos"
    classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    return [
        (str(folder / name / file), label)
        for label, name in enumerate(classes)
        for file in sorted(os.listdir(folder / name))
    ]


def made_folder() -> Path:
    """Where make_files.py writes."""
    return data_folder() / "peers"


def zarr_group() -> Path:
    """With the arrays `images` [n, 2 * WINDOW, 2 * WINDOW, 3], whose chunks are windows, and
    `labels` [n]."""
    return made_folder() / "windows.zarr"


def archive_folder() -> Path:
    """Of tar archives with all photos: NUMBER.jpg and NUMBER.cls."""
    return made_folder() / "webdataset"


def archives() -> list[str]:
    return sorted(map(str, archive_folder().glob("*.tar")))


def windows_of(images: Any) -> Any:
    """The windows of `images` in row-major order, [4 * n, WINDOW, WINDOW, 3]."""
    parts = images.reshape(len(images), 2, WINDOW, 2, WINDOW, 3).transpose(0, 1, 3, 2, 4, 5)
    return np.ascontiguousarray(parts).reshape(-1, WINDOW, WINDOW, 3)


def corner(window: int) -> tuple[int, int, int]:
    """Of window number `window`: its image, its first row and its first column."""
    return window // 4, window // 2 % 2 * WINDOW, window % 2 * WINDOW


def zarr_windows() -> tuple[Any, Any]:
    """All windows and their labels."""
    import zarr

    group = zarr.open_group(zarr_group(), mode="r")
    return windows_of(group["images"][:]), np.repeat(group["labels"][:], 4)


def arrays(case: str) -> tuple[Any, Any]:
    """What the case reads, for peers that hold it in memory."""
    if case == "zarr_windows":
        return zarr_windows()
    return mnist() if case == "mnist_norm" else cifar()


def endless(samples: int) -> Iterator[int]:
    """Indices, shuffled anew in each epoch."""
    generator = np.random.default_rng(1)
    while True:
        yield from generator.permutation(samples).tolist()


def endless_batches(samples: int, batch: int) -> Iterator[Any]:
    """The same in arrays of `batch`; the rest of an epoch is left out."""
    generator = np.random.default_rng(1)
    while True:
        order = generator.permutation(samples)
        for begin in range(0, samples - batch + 1, batch):
            yield order[begin : begin + batch]


def random_crop(draw: random.Random, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width and height by torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = width * height * draw.uniform(0.08, 1.0)
        ratio = np.exp(draw.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return draw.randint(0, width - w), draw.randint(0, height - h), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


def check(case: str, images: Any, labels: Any) -> None:
    """Raises ValueError unless each sample of the batch is one of the set, with its label.

    Orders differ, so samples are found by their bytes. Crops of photos are random: there, shapes
    and the mean of all pixels are all that can be compared.
    """
    wanted = CASES[case]
    images, labels = np.asarray(images), np.asarray(labels).reshape(-1)
    if images.shape != (wanted.batch, *wanted.shape) or images.dtype != wanted.dtype:
        raise ValueError(f"a batch is {images.dtype} {images.shape}, not {wanted}")
    if labels.shape != (wanted.batch,):
        raise ValueError(f"labels are {labels.shape}")
    if case in PHOTOS:
        if not 90 < float(images.mean()) < 165 or float(images.std()) < 25:
            raise ValueError(f"pixels have a mean of {images.mean()}, and {images.std()} around it")
        return
    pixels = source_pixels(case, images)
    known, answers = arrays(case)
    label_of = {image.tobytes(): label for image, label in zip(known, answers.tolist())}
    found = [label_of.get(image.tobytes()) for image in pixels]
    wrong = sum(label != answer for label, answer in zip(found, labels.tolist()))
    if wrong > 0:
        raise ValueError(f"{wrong} of {len(found)} samples are none of the data set")


def source_pixels(case: str, images: Any) -> Any:
    """The bytes that were read, from what was delivered."""
    if case in ("cifar_raw", "zarr_windows"):
        return images
    if case == "mnist_norm":
        exact = (images[:, 0] * MNIST_STD + MNIST_MEAN) * 255
    else:
        # 224 is 7 times 32: every seventh output pixel has the centre of a source pixel.
        exact = (images[:, :, 3::7, 3::7].transpose(0, 2, 3, 1) * 0.5 + 0.5) * 255
        between = images[:, :, 3::7, 6:-7:7]
        linear = (4 * images[:, :, 3::7, 3:-7:7] + 3 * images[:, :, 3::7, 10::7]) / 7
        if float(np.abs(between - linear).max()) > 0.01:
            raise ValueError("pixels between those of the source are not interpolated linearly")
    rounded = np.rint(exact)
    if float(np.abs(exact - rounded).max()) > 0.02:
        raise ValueError("pixels are not normalised as they should be")
    return np.ascontiguousarray(rounded.astype(np.uint8))
