"""SPDL's pipeline of threads. Photos: OpenCV decodes, crops and resizes one by one.

SPDL has no operation of its own for arrays in memory: functions of NumPy or PyTorch work on whole
batches in its threads.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from spdl.pipeline import PipelineBuilder

import cases

LOCAL = threading.local()


def load_photo(item: tuple[str, int]) -> tuple[Any, int]:
    return decode_photo((np.fromfile(item[0], np.uint8), item[1]))


def decode_photo(item: tuple[Any, int]) -> tuple[Any, int]:
    import cv2

    draw: random.Random = LOCAL.__dict__.setdefault("draw", random.Random(threading.get_ident()))
    image = cv2.imdecode(item[0], cv2.IMREAD_COLOR_RGB)
    left, top, width, height = cases.random_crop(draw, image.shape[1], image.shape[0])
    crop = image[top : top + height, left : left + width]
    image = cv2.resize(crop, (cases.SIDE, cases.SIDE), interpolation=cv2.INTER_LINEAR)
    return (cv2.flip(image, 1) if draw.random() < 0.5 else image), item[1]


def join(items: list[tuple[Any, int]]) -> Any:
    return np.stack([image for image, _ in items]), np.array([label for _, label in items])


def archived_photos() -> Iterator[tuple[Any, int]]:
    """Of shuffled archives, the samples of each in random order."""
    from spdl.io import iter_tarfile

    files = cases.archives()
    for index in cases.endless(len(files)):
        with open(files[index], "rb") as file:
            members = dict(iter_tarfile(file.read()))
        names = [name for name in members if name.endswith(".jpg")]
        random.shuffle(names)
        for name in names:
            label = int(bytes(members[name[:-3] + "cls"]))
            yield np.frombuffer(members[name], np.uint8), label


def work_of(case: str, images: Any, labels: Any) -> Any:
    if case == "cifar_raw":
        return lambda indices: (images[indices], labels[indices])
    if case == "mnist_norm":
        scale = np.float32(1 / (255 * cases.MNIST_STD))
        shift = np.float32(cases.MNIST_MEAN / cases.MNIST_STD)

        def normalize(indices: Any) -> Any:
            values = images[indices].astype(np.float32)
            values *= scale
            values -= shift
            return values[:, None], labels[indices]

        return normalize
    import torch

    torch.set_num_threads(1)

    def resize(indices: Any) -> Any:
        values = torch.from_numpy(images[indices]).permute(0, 3, 1, 2).float()
        size = (cases.SIDE, cases.SIDE)
        values = torch.nn.functional.interpolate(values, size=size, mode="bilinear").contiguous()
        return values.mul_(1 / 127.5).sub_(1.0), labels[indices]

    return resize


def batches(case: str, workers: int) -> Iterator[Any]:
    batch = cases.CASES[case].batch
    builder = PipelineBuilder()
    if case in cases.PHOTOS:
        import cv2

        cv2.setNumThreads(1)
        files = cases.photos()
        if case == "jpeg_rrc224":
            builder = builder.add_source(files[index] for index in cases.endless(len(files)))
            builder = builder.pipe(load_photo, concurrency=workers)
        else:
            builder = builder.add_source(archived_photos()).pipe(decode_photo, concurrency=workers)
        builder = builder.aggregate(batch).pipe(join)
    else:
        images, labels = cases.arrays(case)
        order = cases.endless_batches(len(labels), batch)
        work = work_of(case, images, labels)
        builder = builder.add_source(order).pipe(work, concurrency=workers)
    pipeline = builder.add_sink(3).build(num_threads=workers)
    pipeline.start()
    yield from pipeline.get_iterator(timeout=60)
