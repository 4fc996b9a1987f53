"""`tune` on images of many heights, which batches pad, behind a bus that limits.

    python3 bench/ladders/uneven_images.py [--budget 120] [--allow semantic]

Writes 3,000 images, 64 pixels wide and 8 to 512 high, to a folder that is removed at the end. A
batch is padded to its highest; the emulated device copies 0.5 GB/s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 64


def write_images(folder: Path) -> None:
    draw = random.Random(1)
    pixels = draw.randbytes(512 * WIDTH)
    for number in range(3000):
        height = draw.randint(8, 512)
        header = f"P5\n{WIDTH} {height}\n255\n".encode()
        (folder / f"{number}.pgm").write_bytes(header + pixels[: height * WIDTH])


def pipeline(images: Path) -> dict[str, object]:
    return {
        "name": "uneven-images",
        "seed": 1,
        "batch_size": 64,
        "workers": 2,
        "stages": [
            {"use": "read.image_folder", "path": str(images)},
            {"use": "decode.image"},
            {"use": "augment.horizontal_flip", "name": "flip", "p": 0.5},
            {"use": "collate.pad", "layout": "NCHW"},
            {"use": "copy.device", "pinned": True, "non_blocking": True, "prefetch": 2},
        ],
        "train": {"kind": "emulated"},
        "device": "emulated",
        "emulate": {"step_ms": 1.0, "copy_gb_per_s": 0.5, "copy_latency_us": 10},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=120)
    parser.add_argument("--allow", choices=["semantic"], action="append", default=[])
    options = parser.parse_args()
    binary = os.environ.get("CACHEBISECT_BINARY", str(ROOT / "build/release/bin/cachebisect"))
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder) / "images" / "all"
        images.mkdir(parents=True)
        write_images(images)
        file = Path(folder) / "pipeline.json"
        file.write_text(json.dumps(pipeline(images.parent)))
        command = [binary, "tune", "--pipeline", str(file), "--budget", str(options.budget)]
        for kind in options.allow:
            command += ["--allow", kind]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
