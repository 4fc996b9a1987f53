"""Epochs of a folder of JPEGs, and of the same data set prepared behind its stages, in turns.

    python bench/python/prepared.py [--images 512] [--rounds 5] [--workers 2]

A row gives the bytes of the set, the seconds that writing it took, and the median and range of the
milliseconds per sample in an epoch; each round has one epoch of every row, in another order. Files
are in memory by then, as they are that were just written.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from cached import asked, dataset_of, in_turns, make_images, measured_on

import cachebisect

_PLACES = {"after Resize": "transforms[0]", "after decoding": "loader"}


def prepared_rows(plain: Any, folder: Path, workers: int) -> dict[str, tuple[Any, str, str]]:
    """The data set, the bytes and the seconds of each row."""
    rows = {"as it is": (plain, "", "")}
    for row, after in _PLACES.items():
        place = folder / after
        began = time.perf_counter()
        found = cachebisect.prepare(plain, place, after, workers=workers)
        seconds = time.perf_counter() - began
        if after == "transforms[0]":
            print(found)
        size = f"{found.bytes / 1e6:.0f} MB"
        rows[row] = (cachebisect.prepared(plain, place), size, f"{seconds:.1f} s")
    return rows


def webdataset_seconds(folder: Path) -> float:
    """Milliseconds' worth of reading and decoding a sample by WebDataset in this process; 0 where
    it is not installed."""
    try:
        import webdataset
    except ImportError:
        return 0.0
    shards = [str(path) for path in sorted(folder.glob("shard-*.tar"))]
    began = time.perf_counter()
    count = sum(1 for _ in webdataset.WebDataset(shards, shardshuffle=False).decode())
    return (time.perf_counter() - began) / count


def reading_seconds(dataset: Any) -> float:
    """The same by ShardReader."""
    began = time.perf_counter()
    for number in range(len(dataset)):
        dataset._reader.entry(number)
    return (time.perf_counter() - began) / len(dataset)


def main() -> None:
    arguments = asked()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_images(folder / "images", arguments.images)
        rows = prepared_rows(dataset_of(folder / "images"), folder, arguments.workers)
        datasets = {row: dataset for row, (dataset, _, _) in rows.items()}
        seconds = in_turns(datasets, arguments.rounds, arguments.workers)
        own = min(reading_seconds(rows["after Resize"][0]) for _ in range(arguments.rounds))
        place = folder / _PLACES["after Resize"]
        others = min(webdataset_seconds(place) for _ in range(arguments.rounds))
    print(measured_on())
    print("| | the set | written in | an epoch | range |\n|---|---|---|---|---|")
    for row, values in seconds.items():
        of = [1e3 * value for value in values]
        _, size, took = rows[row]
        middle = statistics.median(of)
        print(f"| {row} | {size} | {took} | {middle:.2f} ms | {min(of):.2f} to {max(of):.2f} |")
    print(f"reading alone, one process: {1e6 * own:.0f} us; WebDataset {1e6 * others:.0f} us")


if __name__ == "__main__":
    main()
