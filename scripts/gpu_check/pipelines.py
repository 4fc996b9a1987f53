"""Pipeline files for the checks."""

from __future__ import annotations

from typing import Any, Optional

Pipeline = dict[str, Any]


def emulated_step(
    name: str, stages: list[Any], *, step_ms: float, batch: int, workers: int, size: int = 1024
) -> Pipeline:
    """`stages` work on samples of `size` bytes. The step is a delay of `step_ms` on the device."""
    return {
        "name": name,
        "batch_size": batch,
        "workers": workers,
        "prefetch": 2 * workers,
        "stages": [
            {"use": "synthetic.read", "name": "read", "bytes": size, "samples": 1_000_000},
            *stages,
            {"use": "collate.stack"},
            {"use": "copy.device", "pinned": True, "non_blocking": True, "prefetch": 2},
        ],
        "train": {"kind": "emulated"},
        "emulate": {"step_ms": step_ms, "copy_gb_per_s": 12, "copy_latency_us": 10},
    }


def training(
    model: str, *, batch: int, channels_last: bool = False, precision: str = "bf16-mixed",
    classes: int = 10, image: Optional[int] = None, workers: int = 4,
) -> Pipeline:  # fmt: skip
    """Images of generated data sets, enlarged to `image` pixels, into a built-in model."""
    name = f"{model}-{'channels_last' if channels_last else 'contiguous'}"
    digits = model == "mlp"
    source = "read.mnist" if digits else "read.cifar10"
    folder = "mnist" if digits else "cifar-10"
    resize = [{"use": "augment.resize", "size": image}] if image else []
    return {
        "name": name,
        "batch_size": batch,
        "workers": workers,
        "prefetch": 2,
        "stages": [
            {"use": source, "path": "${cache}/" + folder, "if_missing": "generate"},
            {"use": "decode.mnist" if digits else "decode.cifar"},
            *resize,
            {"use": "augment.to_float"},
            {"use": "collate.stack", "layout": "NHWC" if channels_last else "NCHW"},
            {"use": "copy.device", "pinned": True, "non_blocking": True, "prefetch": 2},
        ],
        "train": {
            "model": model,
            "classes": classes,
            "optimizer": {"kind": "sgd", "lr": 0.001, "momentum": 0.9},
            "precision": precision,
            "memory_format": "channels_last" if channels_last else "contiguous",
        },
    }
