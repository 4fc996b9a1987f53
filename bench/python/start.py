#!/usr/bin/env python3
"""From the start of a process to its first batch, and the memory that it has then.

    bench/python/start.py [--pipeline bench/pipelines/jpeg_rrc224.json] [--rounds 20]

Medians over fresh processes, with the least and the most: seconds from the start of the program to
its end right after the first batch, and its largest resident memory in MB. The memory of the
ring's slots, which hold batches, is part of it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def once(command: list[str]) -> tuple[float, float]:
    """Seconds, and MB."""
    began = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return seconds, usage.ru_maxrss * 1024 / 1e6


def spread(values: list[float], digits: int) -> str:
    ends = f"{min(values):.{digits}f} to {max(values):.{digits}f}"
    return f"{statistics.median(values):.{digits}f} ({ends})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pipeline", default=str(ROOT / "bench/pipelines/jpeg_rrc224.json"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--loader", default=str(ROOT / "build/release/bin/loader"))
    options = parser.parse_args()
    command = [options.loader, options.pipeline, "--workers", str(options.workers)]
    command.append("--only-first")
    once(command)  # Makes the data if there is none, and brings files into memory.
    figures = [once(command) for _ in range(options.rounds)]
    print(f"first batch: {spread([seconds for seconds, _ in figures], 3)} s")
    print(f"memory: {spread([memory for _, memory in figures], 0)} MB")


if __name__ == "__main__":
    main()
