"""Epochs of a folder of JPEGs with and without cachebisect.cached(), in turns.

    python bench/python/cached.py [--images 512] [--rounds 5] [--workers 2]

A row gives the milliseconds per sample of the first epoch, which fills the cache, and the median
and range of the later ones; each round has one epoch of every row, in another order.
"""

from __future__ import annotations

import argparse
import datetime
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
from figures import machine, revision
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import cachebisect

_SIZE = (800, 600)


def make_images(folder: Path, count: int) -> None:
    """JPEGs of smooth noise, in two classes."""
    draws = numpy.random.default_rng(0)
    for number in range(count):
        coarse = draws.integers(0, 255, (30, 40, 3), dtype=numpy.uint8)
        path = folder / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(coarse).resize(_SIZE, Image.Resampling.BICUBIC).save(path, quality=90)


def dataset_of(folder: Path) -> Any:
    steps = [
        transforms.Resize(256),
        transforms.RandomCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize([0.5] * 3, [0.25] * 3),
    ]
    return datasets.ImageFolder(str(folder), transforms.Compose(steps))


def epoch_seconds(dataset: Any, workers: int) -> float:
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=workers)
    batches = iter(loader)
    next(batches)  # Starting workers is no part of it.
    began, samples = time.perf_counter(), 0
    for images, _labels in batches:
        samples += len(images)
    return (time.perf_counter() - began) / samples


def in_turns(rows: dict[str, Any], rounds: int, workers: int) -> dict[str, list[float]]:
    """Seconds per sample of each dataset's epochs: one in each round, in another order."""
    seconds: dict[str, list[float]] = {row: [] for row in rows}
    for _ in range(rounds):
        for row in random.sample(list(rows), len(rows)):
            seconds[row].append(epoch_seconds(rows[row], workers))
    return seconds


def measured_on() -> str:
    """This machine, today, in words."""
    return machine([{"date": datetime.date.today().isoformat(), "revision": revision()}])


def asked() -> argparse.Namespace:
    """Of the command line: images, rounds, workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    arguments = asked()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_images(folder / "images", arguments.images)
        plain = dataset_of(folder / "images")
        rows = {
            "as it is": plain,
            'memory="1GiB"': cachebisect.cached(plain, memory="1GiB"),
            "disk=FOLDER": cachebisect.cached(plain, disk=folder / "cache"),
        }
        seconds = in_turns(rows, arguments.rounds + 1, arguments.workers)
        print(measured_on())
        print(rows['memory="1GiB"'])
        show(seconds)


def show(seconds: dict[str, list[float]]) -> None:
    print("| | first epoch | later epochs | range |\n|---|---|---|---|")
    for row, values in seconds.items():
        first, *later = (1e3 * value for value in values)
        middle = statistics.median(later)
        print(
            f"| {row} | {first:.1f} ms | {middle:.2f} ms | {min(later):.2f} to {max(later):.2f} |"
        )


if __name__ == "__main__":
    main()
