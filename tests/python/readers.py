"""Small files of each library that reads samples, and how its documents read them.

A case is `make(path)`, which writes COUNT samples, and `read(path, index)`, which gives a tensor.
Importable by workers.
"""

from __future__ import annotations

import io
import os
from typing import Any, Callable, NamedTuple

import numpy as np
import torch
from numpy import load as load_array
from torch.utils.data import Dataset

COUNT = 8
SIZE = 64
RATE = 16000


class Case(NamedTuple):
    make: Callable[[str], None]
    read: Callable[[str, int], Any]
    needs: str
    """The module without which it is skipped."""


class Files(Dataset):  # type: ignore[type-arg]
    """The samples of a case: what its `read` gives, and the index."""

    def __init__(self, stage: str, path: str) -> None:
        self.stage = stage
        self.path = path

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        return CASES[self.stage].read(self.path, index), index


class ImportedByName(Files):
    """Calls numpy.load by a name of this module."""

    def __getitem__(self, index: int) -> Any:
        return tensor(load_array(f"{self.path}-{index}.npy")), index


def image(index: int) -> Any:
    """uint8 [SIZE, SIZE, 3], other for each index."""
    row, column = np.mgrid[:SIZE, :SIZE]
    red = (row * 2 + index * 15) % 256
    return np.stack([red, column * 3, np.full_like(row, index * 9)], 2).astype("uint8")


def sound(index: int) -> Any:
    """float32 [RATE / 4], other for each index."""
    return np.sin(np.arange(RATE // 4) * (0.02 + 0.01 * index)).astype("float32") / 2


def each(suffix: str, write: Callable[[str, int], None]) -> Callable[[str], None]:
    """A file per sample, "PATH-3.png"."""

    def make(path: str) -> None:
        for index in range(COUNT):
            write(f"{path}-{index}{suffix}", index)

    return make


def tensor(array: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array))


# Images


def write_png(path: str, index: int) -> None:
    import PIL.Image

    PIL.Image.fromarray(image(index)).save(path)


def write_bytes(path: str, index: int) -> None:
    import simplejpeg

    with open(path, "wb") as file:
        file.write(simplejpeg.encode_jpeg(np.ascontiguousarray(image(index))))


def write_turbo(path: str, index: int) -> None:
    import turbojpeg

    with open(path, "wb") as file:
        file.write(turbojpeg.TurboJPEG().encode(image(index)))


def write_torchvision(path: str, index: int) -> None:
    import torchvision.io

    torchvision.io.write_jpeg(tensor(image(index)).permute(2, 0, 1).contiguous(), path)


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def read_pil(path: str, index: int) -> Any:
    import PIL.Image

    with PIL.Image.open(f"{path}-{index}.png") as opened:
        return tensor(np.asarray(opened))


def read_cv2(path: str, index: int) -> Any:
    import cv2

    return tensor(cv2.imread(f"{path}-{index}.png"))


def decode_cv2(path: str, index: int) -> Any:
    import cv2

    packed = np.frombuffer(contents(f"{path}-{index}.png"), "uint8")
    return tensor(cv2.imdecode(packed, cv2.IMREAD_COLOR))


def read_torchvision(path: str, index: int) -> Any:
    from torchvision.io import read_image

    return read_image(f"{path}-{index}.jpg")


def decode_torchvision(path: str, index: int) -> Any:
    import torchvision.io

    return torchvision.io.decode_image(torchvision.io.read_file(f"{path}-{index}.jpg"))


def decode_torchvision_jpeg(path: str, index: int) -> Any:
    import torchvision.io

    packed = torch.frombuffer(bytearray(contents(f"{path}-{index}.jpg")), dtype=torch.uint8)
    return torchvision.io.decode_jpeg(packed)


def read_imageio(path: str, index: int) -> Any:
    import imageio

    return tensor(imageio.imread(f"{path}-{index}.png"))


def read_imageio_v2(path: str, index: int) -> Any:
    import imageio.v2

    return tensor(imageio.v2.imread(f"{path}-{index}.png"))


def read_imageio_v3(path: str, index: int) -> Any:
    import imageio.v3 as iio

    return tensor(iio.imread(f"{path}-{index}.png"))


def read_skimage(path: str, index: int) -> Any:
    from skimage import io as images

    return tensor(images.imread(f"{path}-{index}.png"))


def decode_simplejpeg(path: str, index: int) -> Any:
    import simplejpeg

    return tensor(simplejpeg.decode_jpeg(contents(f"{path}-{index}.jpg")))


_turbo: list[Any] = []


def decode_turbo(path: str, index: int) -> Any:
    import turbojpeg

    if not _turbo:
        _turbo.append(turbojpeg.TurboJPEG())
    return tensor(_turbo[0].decode(contents(f"{path}-{index}.jpg")))


def write_tiff(path: str, index: int) -> None:
    import tifffile

    tifffile.imwrite(path, image(index), compression="zlib")


def write_pages(path: str) -> None:
    import tifffile

    tifffile.imwrite(path, np.stack([image(i) for i in range(COUNT)]), photometric="rgb")


def read_tiff(path: str, index: int) -> Any:
    import tifffile

    return tensor(tifffile.imread(f"{path}-{index}.tif"))


_open: dict[str, Any] = {}


def opened(path: str, open_file: Callable[[], Any]) -> Any:
    """As datasets that open a file at their first sample and keep it."""
    key = f"{os.getpid()} {path}"
    if key not in _open:
        _open[key] = open_file()
    return _open[key]


def read_kept_tiff(path: str, index: int) -> Any:
    import tifffile

    return tensor(opened(path, lambda: tifffile.TiffFile(path)).asarray(key=index))


def read_page(path: str, index: int) -> Any:
    import tifffile

    return tensor(opened(path, lambda: tifffile.TiffFile(path)).pages[index].asarray())


def write_nifti(path: str, index: int) -> None:
    import nibabel

    nibabel.save(nibabel.Nifti1Image(image(index).astype("int16"), np.eye(4)), path)


def read_nifti(path: str, index: int) -> Any:
    import nibabel

    return tensor(nibabel.load(f"{path}-{index}.nii.gz").get_fdata(dtype=np.float32))


def read_slice(path: str, index: int) -> Any:
    import nibabel

    return tensor(nibabel.load(f"{path}-{index}.nii.gz").dataobj[..., 1])


def write_dicom(path: str, index: int) -> None:
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = pydicom.uid.SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    found = FileDataset(path, {}, file_meta=meta, preamble=b"\0" * 128)
    found.Rows = found.Columns = SIZE
    found.SamplesPerPixel, found.PhotometricInterpretation = 1, "MONOCHROME2"
    found.BitsAllocated = found.BitsStored = 8
    found.HighBit, found.PixelRepresentation = 7, 0
    found.PixelData = image(index)[..., 0].tobytes()
    found.save_as(path, enforce_file_format=True)


def read_dicom(path: str, index: int) -> Any:
    import pydicom

    return tensor(pydicom.dcmread(f"{path}-{index}.dcm").pixel_array)


# Video and sound


def write_clip(path: str, index: int) -> None:
    import av

    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for number in range(6):
            frame = av.VideoFrame.from_ndarray(image(index + number), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def video(use: Callable[[Any], Any]) -> Callable[[str, int], Any]:
    """Reads with torchcodec: `use` gives a tensor of a new decoder."""

    def read(path: str, index: int) -> Any:
        from torchcodec.decoders import VideoDecoder

        return use(VideoDecoder(f"{path}-{index}.mp4"))

    return read


def decord_of(use: Callable[[Any], Any]) -> Callable[[str, int], Any]:
    def read(path: str, index: int) -> Any:
        import decord

        return tensor(use(decord.VideoReader(f"{path}-{index}.mp4")).asnumpy())

    return read


def write_wave(path: str, index: int) -> None:
    import soundfile

    soundfile.write(path, sound(index), RATE)


def read_soundfile(path: str, index: int) -> Any:
    import soundfile

    return tensor(soundfile.read(io.BytesIO(contents(f"{path}-{index}.wav")), dtype="float32")[0])


def read_torchaudio(path: str, index: int) -> Any:
    import torchaudio

    return torchaudio.load(f"{path}-{index}.wav")[0]


def read_librosa(path: str, index: int) -> Any:
    import librosa

    return tensor(librosa.load(f"{path}-{index}.wav", sr=None)[0])


def audio(use: Callable[[Any], Any]) -> Callable[[str, int], Any]:
    def read(path: str, index: int) -> Any:
        from torchcodec.decoders import AudioDecoder

        return use(AudioDecoder(f"{path}-{index}.wav")).data

    return read


# Arrays and tables


def write_npy(path: str, index: int) -> None:
    np.save(path, image(index))


def read_npy(path: str, index: int) -> Any:
    return tensor(np.load(io.BytesIO(contents(f"{path}-{index}.npy"))))


def write_pt(path: str, index: int) -> None:
    torch.save({"x": tensor(image(index))}, path)


def read_pt(path: str, index: int) -> Any:
    return torch.load(f"{path}-{index}.pt")["x"]


def write_hdf5(path: str) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["rows"] = np.stack([image(i) for i in range(COUNT)])


def read_hdf5(path: str, index: int) -> Any:
    import h5py

    return tensor(opened(path, lambda: h5py.File(path, "r")["rows"])[index])


def write_zarr(path: str) -> None:
    import zarr

    zarr.save_array(path, np.stack([image(i) for i in range(COUNT)]))


def read_zarr(path: str, index: int) -> Any:
    import zarr

    return tensor(opened(path, lambda: zarr.open_array(path, mode="r"))[index])


def write_parquet(path: str) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = pyarrow.table({"x": [sound(i)[:64] for i in range(COUNT)]})
    pyarrow.parquet.write_table(rows, path, row_group_size=1)


def column(table: Any) -> Any:
    return tensor(np.stack(table["x"].to_numpy()))


def parquet_of(use: Callable[[Any, int], Any]) -> Callable[[str, int], Any]:
    def read(path: str, index: int) -> Any:
        import pyarrow.parquet

        file = opened(path, lambda: pyarrow.parquet.ParquetFile(path))
        return column(use(file, index))

    return read


def read_whole_parquet(path: str, index: int) -> Any:
    import pyarrow.parquet as pq

    return column(pq.read_table(path))[index]


def write_rows(path: str) -> None:
    import datasets

    datasets.Dataset.from_dict({"x": [sound(i)[:64] for i in range(COUNT)]}).save_to_disk(path)


def read_rows(path: str, index: int) -> Any:
    import datasets

    return torch.tensor(opened(path, lambda: datasets.load_from_disk(path))[index]["x"])


def write_shard(path: str) -> None:
    import webdataset

    with webdataset.TarWriter(f"{path}.tar") as writer:
        for index in range(COUNT):
            writer.write({"__key__": str(index), "npy": image(index), "cls": index})


def decode_sample(path: str, index: int) -> Any:
    import tarfile

    from webdataset.autodecode import Decoder

    with tarfile.open(f"{path}.tar") as file:
        member = file.extractfile(f"{index}.npy")
        assert member is not None
        packed = member.read()
    return tensor(opened(path, lambda: Decoder([]))({"__key__": str(index), "npy": packed})["npy"])


PNG, JPG, CLIP, WAVE = (
    each(".png", write_png),
    each(".jpg", write_bytes),
    each(".mp4", write_clip),
    each(".wav", write_wave),
)
TORCHVISION = each(".jpg", write_torchvision)
DECODER = "torchcodec.decoders"

CASES = {
    "PIL.open": Case(PNG, read_pil, "PIL"),
    "cv2.imread": Case(PNG, read_cv2, "cv2"),
    "cv2.imdecode": Case(PNG, decode_cv2, "cv2"),
    "numpy.load": Case(each(".npy", write_npy), read_npy, "numpy"),
    "torch.load": Case(each(".pt", write_pt), read_pt, "torch"),
    "torchvision.read_image": Case(TORCHVISION, read_torchvision, "torchvision"),
    "torchvision.decode_image": Case(TORCHVISION, decode_torchvision, "torchvision"),
    "torchvision.decode_jpeg": Case(TORCHVISION, decode_torchvision_jpeg, "torchvision"),
    "torchvision.read_file": Case(TORCHVISION, decode_torchvision, "torchvision"),
    "imageio.imread": Case(PNG, read_imageio, "imageio"),
    "imageio.v2.imread": Case(PNG, read_imageio_v2, "imageio"),
    "imageio.v3.imread": Case(PNG, read_imageio_v3, "imageio"),
    "skimage.imread": Case(PNG, read_skimage, "skimage"),
    "tifffile.imread": Case(each(".tif", write_tiff), read_tiff, "tifffile"),
    "tifffile.TiffFile.asarray": Case(write_pages, read_kept_tiff, "tifffile"),
    "tifffile.TiffPage.asarray": Case(write_pages, read_page, "tifffile"),
    "simplejpeg.decode_jpeg": Case(JPG, decode_simplejpeg, "simplejpeg"),
    "turbojpeg.TurboJPEG.decode": Case(each(".jpg", write_turbo), decode_turbo, "turbojpeg"),
    "torchcodec.VideoDecoder.__getitem__": Case(CLIP, video(lambda d: d[1:4]), DECODER),
    "torchcodec.VideoDecoder.get_frame_at": Case(
        CLIP, video(lambda d: torch.stack([d.get_frame_at(i).data for i in (0, 3)])), DECODER
    ),
    "torchcodec.VideoDecoder.get_frames_at": Case(
        CLIP, video(lambda d: d.get_frames_at([0, 2, 5]).data), DECODER
    ),
    "torchcodec.VideoDecoder.get_frames_in_range": Case(
        CLIP, video(lambda d: d.get_frames_in_range(1, 5, 2).data), DECODER
    ),
    "torchcodec.VideoDecoder.get_frame_played_at": Case(
        CLIP, video(lambda d: d.get_frame_played_at(0.25).data), DECODER
    ),
    "torchcodec.VideoDecoder.get_frames_played_at": Case(
        CLIP, video(lambda d: d.get_frames_played_at([0.0, 0.3]).data), DECODER
    ),
    "torchcodec.VideoDecoder.get_frames_played_in_range": Case(
        CLIP, video(lambda d: d.get_frames_played_in_range(0.1, 0.4).data), DECODER
    ),
    "torchcodec.VideoDecoder.get_all_frames": Case(
        CLIP, video(lambda d: d.get_all_frames().data), DECODER
    ),
    "torchcodec.AudioDecoder.get_all_samples": Case(
        WAVE, audio(lambda d: d.get_all_samples()), DECODER
    ),
    "torchcodec.AudioDecoder.get_samples_played_in_range": Case(
        WAVE, audio(lambda d: d.get_samples_played_in_range(0.05, 0.2)), DECODER
    ),
    "decord.VideoReader.__getitem__": Case(CLIP, decord_of(lambda r: r[2]), "decord"),
    "decord.VideoReader.get_batch": Case(CLIP, decord_of(lambda r: r.get_batch([0, 4])), "decord"),
    "soundfile.read": Case(WAVE, read_soundfile, "soundfile"),
    "torchaudio.load": Case(WAVE, read_torchaudio, DECODER),
    "librosa.load": Case(WAVE, read_librosa, "librosa"),
    "nibabel.ArrayProxy.__array__": Case(each(".nii.gz", write_nifti), read_nifti, "nibabel"),
    "nibabel.ArrayProxy.__getitem__": Case(each(".nii.gz", write_nifti), read_slice, "nibabel"),
    "pydicom.dcmread": Case(each(".dcm", write_dicom), read_dicom, "pydicom"),
    "pydicom.Dataset.pixel_array": Case(each(".dcm", write_dicom), read_dicom, "pydicom"),
    "h5py.Dataset.__getitem__": Case(write_hdf5, read_hdf5, "h5py"),
    "zarr.Array.__getitem__": Case(write_zarr, read_zarr, "zarr"),
    "pyarrow.read_table": Case(write_parquet, read_whole_parquet, "pyarrow.parquet"),
    "pyarrow.ParquetFile.read": Case(
        write_parquet, parquet_of(lambda file, index: file.read()), "pyarrow.parquet"
    ),
    "pyarrow.ParquetFile.read_row_group": Case(
        write_parquet, parquet_of(lambda file, index: file.read_row_group(index)), "pyarrow.parquet"
    ),
    "pyarrow.ParquetFile.read_row_groups": Case(
        write_parquet,
        parquet_of(lambda file, index: file.read_row_groups([index])),
        "pyarrow.parquet",
    ),
    "datasets.Dataset.__getitem__": Case(write_rows, read_rows, "datasets"),
    "webdataset.decode": Case(write_shard, decode_sample, "webdataset"),
}
