#!/usr/bin/env python3
"""Our loader and the loaders of others on the same files: samples per CPU second and per second.

    peers.py --python PYTHON [--cases ...] [--peers ...] [--workers N] [--rounds R] [--seconds S]
             [--before LOADER] [--resume FILE]

PYTHON is one with the peers that are to be compared (torch and torchvision, torchdata, tensorflow,
spdl and opencv, nvidia-dali, ffcv; zarr 3, tensorstore; webdataset); those it lacks are named and
left out. Each figure comes from a process of its own, and in each round all take turns. The first
batch of each process is checked, and ours too: see cases.check(). Ours are bench/pipelines/ as they
are, with the samples held in memory, as all peers but FFCV hold those of CIFAR and MNIST, and with
photos of which the crop alone is decoded, as tf.data and DALI do; --before adds those of another
build's `loader`. Prints a table in Markdown of medians, with the slowest and the fastest round.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "python"))

from figures import Records, table  # noqa: E402

PEERS = ("torch", "nodes", "tfdata", "spdl", "dali", "ffcv")
PEERS_OF = {
    "jpeg_rrc224": PEERS, "fakecifar_resize224": PEERS, "cifar_raw": PEERS, "mnist_norm": PEERS,
    "zarr_windows": ("zarr", "tensorstore"), "webdataset_rrc224": ("webdataset", "spdl"),
}  # fmt: skip
CASES = tuple(PEERS_OF)
ALL_PEERS = tuple(dict.fromkeys(peer for peers in PEERS_OF.values() for peer in peers))
TITLES = {
    "torch": "PyTorch DataLoader", "nodes": "torchdata.nodes", "tfdata": "tf.data",
    "spdl": "SPDL", "dali": "DALI (CPU)", "ffcv": "FFCV", "zarr": "zarr-python",
    "tensorstore": "TensorStore", "webdataset": "WebDataset with a DataLoader",
    "ours": "cachebisect", "held": "cachebisect, `in_memory`",
    "cached": "cachebisect, `cache.memory`",
    "cropped": "cachebisect, `decode.random_resized_crop`",
    "before": "cachebisect, before", "before_held": "cachebisect, before, `in_memory`",
}  # fmt: skip
FIGURES = re.compile(r"([0-9]+) samples/s .* ([0-9]+) per CPU second")


def last_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(json.loads(lines[-1])) if lines else {"error": f"exit status {done.returncode}"}


def run_peer(peer: str, case: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [
        options.python, str(HERE / "one_peer.py"), peer, case, "--workers", str(options.workers),
        "--seconds", str(options.seconds),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return {"error": "no figure within 300 s"}
    return last_json(done)


def pipeline_of(name: str, case: str) -> str:
    if name == "cropped":
        case = case.replace("rrc", "crop")
    elif name == "cached":
        case = case.replace("raw", "cached")
    return f"{case}.json"


def run_ours(name: str, case: str, options: argparse.Namespace) -> dict[str, Any]:
    loader = options.before if name.startswith("before") else options.loader
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        command = [
            loader, str(ROOT / "bench/pipelines" / pipeline_of(name, case)), "--rounds", "1",
            "--workers", str(options.workers), "--seconds", str(options.seconds),
        ]  # fmt: skip
        if name.endswith("held"):
            command += ["--set", "stages.0.in_memory=true"]
        if not name.startswith("before"):
            command += ["--no-kernels", "--first", str(first)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(loader))
        found = FIGURES.search(done.stdout.splitlines()[-1]) if done.stdout else None
        if done.returncode != 0 or found is None:
            return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "no figures"}
        if first.exists():
            check = subprocess.run(
                [options.python, str(HERE / "check_first.py"), case, str(first)],
                capture_output=True, text=True,
            )  # fmt: skip
            if check.returncode != 0:
                return {"error": check.stderr.strip().splitlines()[-1]}
    return {"per_second": float(found[1]), "per_cpu_second": float(found[2])}


def environment(loader: str) -> dict[str, str]:
    """A build that was moved finds its libraries next to its programs."""
    return {**os.environ, "LD_LIBRARY_PATH": str(Path(loader).resolve().parents[1] / "lib")}


def contestants(case: str, options: argparse.Namespace) -> list[str]:
    names = ["ours"]
    if case in ("cifar_raw", "mnist_norm"):
        names.append("held")
    if case == "cifar_raw":
        names.append("cached")
    if case in ("jpeg_rrc224", "webdataset_rrc224"):
        names.append("cropped")
    peers = [peer for peer in PEERS_OF[case] if peer in options.peers]
    return names + (["before"] if options.before else []) + peers


def make_files(case: str, options: argparse.Namespace) -> None:
    """What the case reads, unless a pipeline of ours makes it."""
    if case in ("zarr_windows", "webdataset_rrc224"):
        subprocess.run([options.python, str(HERE / "make_files.py"), case], check=True)


def spread(records: Sequence[dict[str, Any]], key: str) -> str:
    values = sorted(record[key] for record in records)
    return f"{median(values):,.0f} ({values[0]:,.0f} to {values[-1]:,.0f})"


def rows_of(case: str, records: Records, names: Sequence[str]) -> list[list[str]]:
    runs = {name: records.select(case=case, name=name) for name in names}
    good = {name: [run for run in found if "error" not in run] for name, found in runs.items()}
    cpu = {
        name: median(run["per_cpu_second"] for run in found)
        for name, found in good.items()
        if found
    }
    best = max((cpu[name] for name in PEERS_OF[case] if name in cpu), default=0.0)
    rows = []
    for name in sorted(names, key=lambda name: -cpu.get(name, 0.0)):
        if name not in cpu:
            rows.append([f"`{case}`", TITLES[name], runs[name][-1]["error"], "", ""])
            continue
        ratio = f"{cpu[name] / best:.2f}" if best else ""
        rows.append(
            [
                f"`{case}`", TITLES[name], spread(good[name], "per_cpu_second"), ratio,
                spread(good[name], "per_second"),
            ]
        )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--peers", nargs="*", default=list(ALL_PEERS), choices=ALL_PEERS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--loader", default=str(ROOT / "build/release/bin/loader"))
    parser.add_argument("--before", help="the loader of another build")
    parser.add_argument("--resume", help="keep finished runs in this file, and go on with it")
    options = parser.parse_args()
    records = Records(options.resume)
    for case in options.cases:
        make_files(case, options)
    for turn in range(options.rounds):
        for case in options.cases:
            for name in contestants(case, options):
                if records.find(case=case, name=name, turn=turn):
                    continue
                failed = [run for run in records.select(case=case, name=name) if "error" in run]
                run = run_peer if name in ALL_PEERS else run_ours
                found = {"error": failed[0]["error"]} if failed else run(name, case, options)
                records.add(case=case, name=name, turn=turn, **found)
                print(turn, case, name, found, file=sys.stderr)
    header = ["case", "loader", "samples per CPU second", "of the best peer", "samples/s"]
    rows = [
        row for case in options.cases for row in rows_of(case, records, contestants(case, options))
    ]
    print(table(header, rows))


if __name__ == "__main__":
    main()
