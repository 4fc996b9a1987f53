#!/usr/bin/env python3
"""One peer on one case, in a process of its own: a line of JSON with its figures, or its error.

    one_peer.py PEER CASE [--workers N] [--seconds S]

CPU time is that of the whole process tree, in ticks of 10 ms.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import cases

PEERS = ("torch", "nodes", "tfdata", "spdl", "dali", "ffcv", "zarr", "tensorstore", "webdataset")
WARM_UP_SECONDS = 1.0


def process_tree() -> tuple[list[int], float]:
    """This process and all below it, and their CPU seconds."""
    tick = os.sysconf("SC_CLK_TCK")
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
        seconds[int(name)] = (int(fields[11]) + int(fields[12])) / tick
    tree, todo = [], [os.getpid()]
    while todo:
        process = todo.pop()
        tree.append(process)
        todo += children.get(process, [])
    return tree, sum(seconds.get(process, 0.0) for process in tree)


def measure(batches: Iterator[Any], batch: int, seconds: float) -> dict[str, float]:
    begin = time.perf_counter()
    while time.perf_counter() < begin + WARM_UP_SECONDS:
        next(batches)
    cpu, begin, samples = process_tree()[1], time.perf_counter(), 0
    while time.perf_counter() < begin + seconds:
        next(batches)
        samples += batch
    elapsed = time.perf_counter() - begin
    return {
        "per_second": samples / elapsed,
        "per_cpu_second": samples / (process_tree()[1] - cpu),
    }


def run(peer: str, case: str, workers: int, seconds: float) -> dict[str, Any]:
    try:
        batches = iter(importlib.import_module(f"peer_{peer}").batches(case, workers))
        images, labels = next(batches)[:2]
        cases.check(case, images, labels)
        return dict(measure(batches, cases.CASES[case].batch, seconds))
    except ModuleNotFoundError as error:
        return {"error": f"not installed ({error.name})"}
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {lines[0][:200]}"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("case", choices=sorted(cases.CASES))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    result = run(options.peer, options.case, options.workers, options.seconds)
    print(json.dumps(result), flush=True)
    for process in process_tree()[0]:
        if process != os.getpid():
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
    sys.stderr.flush()
    os._exit(0)  # pipelines without an end would wait for their threads


if __name__ == "__main__":
    main()
