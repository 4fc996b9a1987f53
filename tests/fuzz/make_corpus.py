#!/usr/bin/env python3
"""Writes what programs write of tests/fuzz/corpus anew: files, archives, images, reports, messages.

    tests/fuzz/make_corpus.py --tool build/release/bin/cachebisect

What is left was written by hand: texts that users type, and what was found (found-NAME).
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import tempfile
from pathlib import Path

from corpus_files import (
    CORPUS,
    pixels,
    put,
    write_archives,
    write_data_sets,
    write_images,
    write_netcdf,
    write_records,
    write_samples,
)

ROOT = CORPUS.parent.parent.parent


def write_pipelines() -> None:
    """The ready pipelines."""
    for name in ("starved", "mnist", "imagefolder"):
        put("pipeline", name, (ROOT / "pipelines" / f"{name}.json").read_bytes())


def write_messages() -> None:
    """The examples of docs/extend/protocol.md, one conversation, and what the hook writes."""
    lines, inside = [], False
    for line in (ROOT / "docs" / "extend" / "protocol.md").read_text().splitlines():
        if line.startswith("```"):
            inside = line == "```jsonl"
        elif inside:
            lines.append(line)
    for kind in (
        "hello",
        "describe",
        "sizes",
        "prepare",
        "storage",
        "run",
        "error",
        "join",
        "joined",
        "ask",
    ):
        chosen = [line for line in lines if json.loads(line)["type"] == kind]
        put("protocol", kind, "\n".join(chosen if kind == "ask" else chosen[-1:]) + "\n")
    batches = {
        key: [1, 2]
        for key in ("epoch", "samples", "load", "forward", "backward", "optimizer", "total", "wait")
    }
    timing = {
        "version": 1,
        "name": "train.py",
        "device": "CPU",
        "torch": "2.11",
        "workers": 2,
        "batch_size": 4,
        "ended_by": "epochs",
        "first_batch_seconds": 0.5,
        "call_seconds": 1e-6,
        "epochs": 1,
        "batches": batches,
    }
    put("script_files", "timing", json.dumps(timing))
    worker = {"began": [0, 2], "collating": [1, 3], "ended": [1.5, 4]}
    put("script_files", "loading", json.dumps({"begin_ns": 5, "seconds": 4, "workers": [worker]}))
    call = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1.5, "dur": 2, "tid": 7}
    copy = {**call, "cat": "gpu_memcpy", "name": "Memcpy HtoD"}
    memory = {
        "name": "[memory]",
        "args": {"Device Type": 1, "Device Id": 0, "Total Allocated": 5.0},
    }
    put(
        "script_files",
        "trace",
        json.dumps({"baseTimeNanoseconds": 9, "traceEvents": [call, copy, memory]}),
    )
    prepared = {"ok": True, "text": "t", "lines": ["a"], "summary": {"dry_run": False}}
    put("script_files", "prepared", json.dumps(prepared))


def write_reports(tool: str, folder: Path) -> None:
    """A short run, with a few of its blocks."""
    report, history = folder / "report.json", folder / "history.jsonl"
    command = [
        tool,
        "--pipeline",
        str(ROOT / "pipelines" / "starved.json"),
        "--quick",
        "--sustain",
        "0",
        "--budget",
        "4",
        "--what-if",
        "workers=4",
        "--quiet",
        "--no-progress",
        "--cost-per-hour",
        "3",
        "--json",
        str(report),
        "--append",
        str(history),
    ]
    subprocess.run(command, check=True)
    document = json.loads(report.read_text())
    document["machine"] = {"cpu": "CPU", "usable_cpus": 2}
    document["blocks"] = document["blocks"][:14]
    put("report", "run", json.dumps(document))
    document["recording"] = None
    put("report", "old", json.dumps(document))
    line = history.read_text()
    put("history", "two", line + line.replace("drop", "flat"))
    put("history", "damaged", "{}\n\n" + line + line[: len(line) // 2])


def shard_of(record: bytes) -> bytes:
    """A shard of one record; its check sums are left to the target."""
    entry = struct.pack("<QIIQ", 8, len(record), len(record), 0)
    footer = struct.pack("<QQQQQQ", 8 + len(record), 1, 0, 0, 0, 1)
    return b"CBSHARD1" + record + entry + footer + b"CBSHEND1"


def write_shards(tool: str, folder: Path) -> None:
    """A prepared data set: its index, and one shard a codec."""
    pipeline = folder / "p.json"
    stages = [
        {"use": "synthetic.read", "name": "read", "bytes": 40, "samples": 3},
        {"use": "synthetic.cpu", "name": "cpu", "us": 1},
        {"use": "collate.stack"},
        {"use": "copy.device"},
    ]
    pipeline.write_text(
        json.dumps({"stages": stages, "batch_size": 1, "train": {"kind": "emulated"}})
    )
    for codec in ("none", "lz4", "zstd:1"):
        out = folder / codec
        subprocess.run(
            [
                tool,
                "prepare",
                "--pipeline",
                str(pipeline),
                "--after",
                "cpu",
                "--codec",
                codec,
                "--out",
                str(out),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        put("shard", codec.replace(":", "-"), (out / "shard-00000.cbs").read_bytes())
    put(
        "shard",
        "fields",
        shard_of(struct.pack("<III", 2, 1, 1) + pixels(6) + struct.pack("<q4f", 7, 1, 2, 3, 4)),
    )
    put("shard", "empty", b"CBSHARD1" + struct.pack("<QQQQQQ", 8, 0, 0, 0, 0, 0) + b"CBSHEND1")
    field = {"name": "image", "dtype": "uint8", "shape": [20]}
    shard = {"file": "shard-00000.cbs", "samples": 3, "bytes": 196, "index_checksum": "CHECKSUM"}
    index = {
        "format": 1,
        "after": "read",
        "codec": "none",
        "content": "c",
        "digest": "d",
        "fields": [field],
        "source_samples": 3,
        "generated": False,
        "shards": [shard],
    }
    put("shard_set", "static", json.dumps(index))
    index["fields"] = [
        {**field, "shape": [-1, -1]},
        {"name": "label", "dtype": "int64", "shape": []},
    ]
    put("shard_set", "dynamic", json.dumps(index))


def main() -> None:
    """Everything but what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    write_data_sets()
    write_archives()
    write_records()
    write_images()
    write_netcdf()
    write_samples()
    write_pipelines()
    write_messages()
    with tempfile.TemporaryDirectory() as name:
        write_reports(tool, Path(name))
        write_shards(tool, Path(name))
    print(f"{sum(1 for path in CORPUS.rglob('*') if path.is_file())} inputs in {CORPUS}")


if __name__ == "__main__":
    main()
