"""Functions and methods of installed libraries that read or decode samples."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from .slots import Slot, datasets_within, method_slot


class Row(NamedTuple):
    """A callable of a library that becomes a stage of the datasets that call it."""

    module: str
    """Where it is found once it is imported."""
    callable: str
    """A function, "Class.method" or "Class.property"."""
    category: str
    """ "read" or "decode"."""
    name: str = ""
    """In reports, if it is not the package and the callable."""

    @property
    def stage(self) -> str:
        """The name of the stage."""
        return self.name or f"{self.module.partition('.')[0]}.{self.callable}"


ROWS = (
    Row("PIL.Image", "open", "decode"),
    Row("cv2", "imread", "decode"),
    Row("cv2", "imdecode", "decode"),
    Row("numpy", "load", "read"),
    Row("torch", "load", "read"),
    Row("torchvision.io", "read_image", "decode"),
    Row("torchvision.io", "decode_image", "decode"),
    Row("torchvision.io", "decode_jpeg", "decode"),
    Row("torchvision.io", "read_file", "read"),
    Row("imageio", "imread", "decode"),
    Row("imageio.v2", "imread", "decode", "imageio.v2.imread"),
    Row("imageio.v3", "imread", "decode", "imageio.v3.imread"),
    Row("skimage.io", "imread", "decode"),
    Row("tifffile", "imread", "decode"),
    Row("tifffile", "TiffFile.asarray", "decode"),
    Row("tifffile", "TiffPage.asarray", "decode"),
    Row("simplejpeg", "decode_jpeg", "decode"),
    Row("turbojpeg", "TurboJPEG.decode", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.__getitem__", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frame_at", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frames_at", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frames_in_range", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frame_played_at", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frames_played_at", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_frames_played_in_range", "decode"),
    Row("torchcodec.decoders", "VideoDecoder.get_all_frames", "decode"),
    Row("torchcodec.decoders", "AudioDecoder.get_all_samples", "decode"),
    Row("torchcodec.decoders", "AudioDecoder.get_samples_played_in_range", "decode"),
    Row("decord", "VideoReader.__getitem__", "decode"),
    Row("decord", "VideoReader.get_batch", "decode"),
    Row("soundfile", "read", "decode"),
    Row("torchaudio", "load", "decode"),
    Row("librosa.core.audio", "load", "decode"),
    Row("nibabel.arrayproxy", "ArrayProxy.__array__", "decode"),
    Row("nibabel.arrayproxy", "ArrayProxy.__getitem__", "decode"),
    Row("pydicom", "dcmread", "read"),
    Row("pydicom.dataset", "Dataset.pixel_array", "decode"),
    Row("h5py", "Dataset.__getitem__", "read"),
    Row("zarr", "Array.__getitem__", "read"),
    Row("pyarrow.parquet", "read_table", "read"),
    Row("pyarrow.parquet", "ParquetFile.read", "read"),
    Row("pyarrow.parquet", "ParquetFile.read_row_group", "read"),
    Row("pyarrow.parquet", "ParquetFile.read_row_groups", "read"),
    Row("datasets", "Dataset.__getitem__", "read"),
    Row("webdataset.autodecode", "Decoder.__call__", "decode", "webdataset.decode"),
)
"""A row's result is kept and given again, and its call is made again with what it was called with.
So it returns data: no generator, no object that reads when it is asked, no view of memory that the
library uses again. And it gives the same each time: no "next frame", as PyAV's containers do. It
is not in here if Python cannot replace it, as the methods of lmdb's C types.
"""


def library_slots(dataset: Any) -> list[Slot]:
    """What `dataset` may call of the libraries that are imported. The result is loaded at once.

    The methods of `dataset` itself are left out: they are its `read` stage.
    """
    outermost = _unwrapped(dataset)
    functions = {row: held for row in ROWS if (held := _function(row)) is not None}
    places = holders(functions.values())
    found = []
    for row in ROWS:
        if row in functions:
            slot: Optional[Slot] = _function_slot(row, functions[row], places)
        else:
            slot = _method_slot(row, outermost)
        if slot is not None:
            found.append(slot)
    return found


def imported() -> int:
    """How many rows belong to modules that this process has imported."""
    return sum(row.module in sys.modules for row in ROWS)


def import_for(stages: Iterable[str]) -> bool:
    """Imports the modules of `stages` that are not imported; true if it has imported one.

    For stages that were found in another process: this one will call them too.
    """
    before = imported()
    wanted = set(stages)
    for row in ROWS:
        if row.stage in wanted and row.module not in sys.modules:
            with contextlib.suppress(Exception):  # The dataset gets its own error.
                importlib.import_module(row.module)
    return imported() > before


def _function(row: Row) -> Any:
    """The function of the row; None if it is not imported, or is a method."""
    module = sys.modules.get(row.module)
    held = getattr(module, "__dict__", {}).get(row.callable)
    return held if callable(held) else None


def holders(functions: Iterable[Any]) -> dict[int, list[tuple[dict[str, Any], str]]]:
    """Where modules hold each function, by its id: some have imported it by its name."""
    found: dict[int, list[tuple[dict[str, Any], str]]] = {id(each): [] for each in functions}
    seen: set[int] = set()
    for module in list(sys.modules.values()):
        if not isinstance(module, types.ModuleType) or id(module) in seen:
            continue
        seen.add(id(module))
        held = vars(module)
        for key, value in list(held.items()):
            if id(value) in found:
                found[id(value)].append((held, key))
    return found


def _function_slot(
    row: Row, function: Any, places: dict[int, list[tuple[dict[str, Any], str]]]
) -> Slot:
    own = vars(sys.modules[row.module])
    held_at = places[id(function)]

    def put(value: Any) -> None:
        for held, key in held_at:
            held[key] = value

    place = (id(own), row.callable)
    return Slot(row.stage, row.category, lambda: own[row.callable], put, place, steady=True)


def _method_slot(row: Row, outermost: Any) -> Optional[Slot]:
    """The slot of a method or property; None if there is none that can be replaced."""
    class_name, _, method = row.callable.partition(".")
    owner = getattr(sys.modules.get(row.module), "__dict__", {}).get(class_name)
    if not isinstance(owner, type) or isinstance(outermost, owner) or method not in vars(owner):
        return None
    try:
        setattr(owner, method, vars(owner)[method])
    except (AttributeError, TypeError):  # A type that is written in C and does not change.
        return None
    slot = method_slot(owner, method)
    slot.name, slot.category, slot.steady = row.stage, row.category, True
    return slot


def _unwrapped(dataset: Any) -> Any:
    """The dataset behind any Subset."""
    while type(dataset).__name__ == "Subset" and len(datasets_within(dataset)) > 1:
        dataset = datasets_within(dataset)[1]
    return dataset
