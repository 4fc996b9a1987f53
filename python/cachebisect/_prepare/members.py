"""Single values of a sample as files of a tar archive, in formats that WebDataset decodes.

Thread safe.
"""

from __future__ import annotations

import functools
import io
import json
import math
import pickle
import sys
from typing import Any, NamedTuple

from .._chain import trees

TENSOR, ARRAY, SCALAR, IMAGE = "tensor", "array", "scalar", "image"
WHOLE_NUMBER, JSON, TEXT, BYTES, PICKLE = "whole number", "json", "text", "bytes", "pickle"

_EXTENSIONS = {
    TENSOR: "npy", ARRAY: "npy", SCALAR: "npy", IMAGE: "npy", WHOLE_NUMBER: "cls", JSON: "json",
    TEXT: "txt", BYTES: "bin", PICKLE: "pyd",
}  # fmt: skip
_BANDS = {"L": 1, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3, "HSV": 3, "LAB": 3}
"""Modes of images that are arrays of bytes, height x width x bands."""
_LARGEST = 2**53
"""Readers of JSON may take numbers above it for floats."""
_NPY_HEADER = 10
"""Bytes before the text in a header of .npy: magic, version, length."""


class Kind(NamedTuple):
    """How a value is stored. `detail`: what the file does not say, such as the mode of an image."""

    name: str
    detail: Any = None

    @property
    def extension(self) -> str:
        return _EXTENSIONS[self.name]


def stored(value: Any) -> tuple[Kind, bytes]:
    """`value` as the bytes of a file. Raises what pickling raises, for values that cannot be
    stored."""
    if type(value) is int and abs(value) < _LARGEST:
        return Kind(WHOLE_NUMBER), str(value).encode()
    if type(value) is bytes:
        return Kind(BYTES), value
    try:
        if type(value) is str:
            return Kind(TEXT), value.encode()
        if is_json(value):
            return Kind(JSON), json.dumps(value, ensure_ascii=False).encode()
        data = _stored_array(value)
    except (ValueError, TypeError, RuntimeError):  # Such as bfloat16, or half a surrogate.
        data = None
    return data if data is not None else (Kind(PICKLE), _pickled(value))


def loaded(kind: Kind, data: memoryview) -> Any:
    """The value of stored(); arrays, tensors share the memory of `data`, which can be written to.

    Raises for what stored() has not written.
    """
    name = kind.name
    if name in (TENSOR, ARRAY, SCALAR, IMAGE):
        return _loaded_array(kind, data)
    if name == WHOLE_NUMBER:
        return int(bytes(data))
    if name == JSON:
        return json.loads(bytes(data))
    if name == TEXT:
        return bytes(data).decode()
    return bytes(data) if name == BYTES else pickle.loads(data)


def is_json(value: Any) -> bool:
    """JSON gives it back as it was, with the same types."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return abs(value) < _LARGEST
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(is_json(item) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_json(item) for key, item in value.items())
    return False


def _stored_array(value: Any) -> Any:
    """None if it is no array, tensor or image that .npy can hold."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if type(value) is numpy.ndarray:
        return None if value.dtype.kind not in "biufc" else (Kind(ARRAY), npy(value))
    if isinstance(value, numpy.generic):
        return None if value.dtype.kind not in "biufc" else (Kind(SCALAR), npy(numpy.array(value)))
    if _is_own_tensor(value):
        return Kind(TENSOR), npy(value.contiguous().numpy())
    pil = sys.modules.get("PIL.Image")
    if pil is None or type(value) is not pil.Image or value.mode not in _BANDS:
        return None
    if 0 in value.size:
        return None
    return Kind(IMAGE, (value.mode, dict(value.info))), npy(numpy.asarray(value))


def _is_own_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not torch.Tensor or not trees.is_dense(value):
        return False
    return value.device.type == "cpu" and not value.requires_grad


def npy(array: Any) -> bytes:
    """`array`, without objects in it, as a file of numpy.save()."""
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    header = _npy_header(array.dtype.str, by_columns, array.shape)
    elements: bytes = (array.T if by_columns else array).tobytes()
    return header + elements


@functools.lru_cache(maxsize=256)
def _npy_header(dtype: str, by_columns: bool, shape: tuple[int, ...]) -> bytes:
    from numpy.lib import format as npy_format

    file = io.BytesIO()
    about = {"descr": dtype, "fortran_order": by_columns, "shape": shape}
    npy_format.write_array_header_1_0(file, about)
    return file.getvalue()


def _loaded_array(kind: Kind, data: memoryview) -> Any:
    import numpy

    begin = _NPY_HEADER + int.from_bytes(data[8:_NPY_HEADER], "little")
    shape, by_columns, dtype = _npy_shape(bytes(data[:begin]))
    if len(data) == begin:
        array = numpy.empty(shape, dtype)
    else:
        flat = numpy.frombuffer(data, dtype, offset=begin)
        array = flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)
    if kind.name == TENSOR:
        import torch

        return torch.from_numpy(array)
    if kind.name == IMAGE:
        return _image(array, *kind.detail)
    return array[()] if kind.name == SCALAR else array


@functools.lru_cache(maxsize=256)
def _npy_shape(header: bytes) -> tuple[tuple[int, ...], bool, Any]:
    from numpy.lib import format as npy_format

    file = io.BytesIO(header)
    npy_format.read_magic(file)
    return npy_format.read_array_header_1_0(file)  # type: ignore[no-any-return]


def _image(array: Any, mode: str, info: dict[str, Any]) -> Any:
    from PIL import Image

    height, width = array.shape[:2]
    image = Image.frombytes(mode, (width, height), array.data)
    image.info = dict(info)
    return image


def _pickled(value: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file, protocol=4).dump(value)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """Writes the elements of a tensor, not the storage that it is a view of; reading takes torch
    alone."""

    def reducer_override(self, value: Any) -> Any:
        if not _is_own_tensor(value):
            return NotImplemented
        try:
            array = value.contiguous().numpy()
        except (TypeError, RuntimeError):
            return value.clone().__reduce_ex__(4)
        return sys.modules["torch"].from_numpy, (array.copy(),)
