"""tf.data, with a pool of as many threads as workers and one thread for an operation.

Photos: the crop window alone is decoded, by the fast inverse DCT, TensorFlow's defaults. The other
cases map whole batches.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

import cases


def load_photo(path: Any, label: Any) -> Any:
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10, min_object_covered=0.0,
        use_image_if_no_bounding_boxes=True,
    )  # fmt: skip
    window = tf.concat([begin[:2], size[:2]], 0)
    image = tf.image.decode_and_crop_jpeg(data, window, channels=3)
    image = tf.image.random_flip_left_right(tf.image.resize(image, (cases.SIDE, cases.SIDE)))
    image = tf.cast(tf.round(image), tf.uint8)
    return tf.ensure_shape(image, (cases.SIDE, cases.SIDE, 3)), label


def resize(images: Any, labels: Any) -> Any:
    images = tf.image.resize(images, (cases.SIDE, cases.SIDE)) * (1 / 127.5) - 1.0
    return tf.transpose(images, [0, 3, 1, 2]), labels


def normalize(images: Any, labels: Any) -> Any:
    scale, shift = 1 / (255 * cases.MNIST_STD), cases.MNIST_MEAN / cases.MNIST_STD
    return tf.expand_dims(tf.cast(images, tf.float32) * scale - shift, 1), labels


def batches(case: str, workers: int) -> Iterator[Any]:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(workers)
    batch = cases.CASES[case].batch
    if case == "jpeg_rrc224":
        paths, labels = zip(*cases.photos())
        data = tf.data.Dataset.from_tensor_slices((list(paths), list(labels)))
        data = data.shuffle(len(paths)).repeat().map(load_photo, num_parallel_calls=workers)
        data = data.batch(batch, drop_remainder=True)
    else:
        data = tf.data.Dataset.from_tensor_slices(cases.arrays(case)).shuffle(10_000).repeat()
        data = data.batch(batch, drop_remainder=True)
        work = {"fakecifar_resize224": resize, "mnist_norm": normalize}.get(case)
        data = data.map(work, num_parallel_calls=workers) if work else data
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = workers
    options.threading.max_intra_op_parallelism = 1
    yield from iter(data.prefetch(2).with_options(options))
