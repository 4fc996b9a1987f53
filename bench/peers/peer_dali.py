"""NVIDIA DALI with CPU operators. Photos: the crop window alone is decoded.

DALI has no reader of CIFAR or IDX files: a callback gives whole batches of arrays in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from nvidia.dali import fn, pipeline_def, types

import cases


def photos_pipeline(options: dict[str, Any]) -> Any:
    @pipeline_def(**options)  # type: ignore[untyped-decorator]
    def pipeline() -> Any:
        data, labels = fn.readers.file(
            file_root=str(cases.data_folder() / "photos"), random_shuffle=True
        )
        images = fn.decoders.image_random_crop(
            data, output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
        )
        size = (cases.SIDE, cases.SIDE)
        images = fn.resize(images, size=size, interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.flip(images, horizontal=fn.random.coin_flip(probability=0.5)), labels

    return pipeline()


def arrays_pipeline(case: str, options: dict[str, Any]) -> Any:
    images, labels = cases.arrays(case)
    images = images.reshape(*images.shape[:3], -1)
    order = cases.endless_batches(len(labels), options["batch_size"])

    def next_batch() -> Any:
        indices = next(order)
        return images[indices], labels[indices]

    @pipeline_def(**options)  # type: ignore[untyped-decorator]
    def pipeline() -> Any:
        pixels, classes = fn.external_source(
            source=next_batch, num_outputs=2, batch=True, dtype=[types.UINT8, types.INT64],
            layout=["HWC", ""],
        )  # fmt: skip
        mean, std = [127.5] * 3, [127.5] * 3
        if case == "fakecifar_resize224":
            size = (cases.SIDE, cases.SIDE)
            pixels = fn.resize(pixels, size=size, interp_type=types.INTERP_LINEAR)
        if case == "mnist_norm":
            mean, std = [cases.MNIST_MEAN * 255], [cases.MNIST_STD * 255]
        if case != "cifar_raw":
            pixels = fn.crop_mirror_normalize(
                pixels, dtype=types.FLOAT, output_layout="CHW", mean=mean, std=std
            )
        return pixels, classes

    return pipeline()


def batches(case: str, workers: int) -> Iterator[Any]:
    options = {
        "batch_size": cases.CASES[case].batch, "num_threads": workers, "device_id": None,
        "seed": 1, "prefetch_queue_depth": 2,
    }  # fmt: skip
    photos = case == "jpeg_rrc224"
    pipeline = photos_pipeline(options) if photos else arrays_pipeline(case, options)
    pipeline.build()
    while True:
        yield tuple(np.asarray(output.as_tensor()) for output in pipeline.run())
