"""Inputs of the targets that read files of data sets: right ones and wrong ones."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
FIXTURES = HERE.parent / "fixtures"
IMAGES = [
    "cmyk.jpg",
    "exif_6.jpg",
    "rgb_420.jpg",
    "rgb_420_progressive.jpg",
    "rgb_420_restart.jpg",
    "palette_transparent.png",
    "grey16.png",
    "rgb_bmp.bmp",
    "exif_webp.webp",
    "grey_pgm.pgm",
]


def put(target: str, name: str, content: bytes | str) -> None:
    """Writes one input."""
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def idx(*dims: int) -> bytes:
    """The header of an IDX file of bytes."""
    return struct.pack(f">HBB{len(dims)}I", 0, 8, len(dims), *dims)


def pixels(count: int) -> bytes:
    """Some bytes."""
    return bytes(i * 7 % 251 for i in range(count))


def write_data_sets() -> None:
    """IDX, gzip, CIFAR."""
    one = idx(1, 28, 28) + pixels(784)
    put("idx", "one", one)
    put("idx", "three", idx(3, 28, 28) + pixels(3 * 784))
    put("idx", "overflow", idx(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF) + pixels(16))
    put("idx", "none", idx(0, 28, 28))
    put("gzip", "one", gzip.compress(one, 9, mtime=0))
    put("gzip", "stored", gzip.compress(one, 0, mtime=0))
    put("gzip", "members", gzip.compress(one[:100], mtime=0) + gzip.compress(one[100:], mtime=0))
    put("gzip", "bomb", gzip.compress(idx(1, 28, 28) + bytes(300_000), 9, mtime=0))
    put("gzip", "claims", gzip.compress(idx(5_000_000, 28, 28), 9, mtime=0))
    put("cifar", "ten", bytes([3]) + pixels(3072) + bytes([9]) + pixels(3072))
    put("cifar", "hundred", bytes([1, 99]) + pixels(3072))
    put("cifar", "label", bytes([200]) + pixels(3072))


def netcdf(version: int, records: int) -> bytes:
    """Two variables with records, `a` packed and `b`, and values for three of them."""
    count = (lambda n: struct.pack(">Q", n)) if version == 5 else (lambda n: struct.pack(">I", n))
    word = struct.Struct(">I").pack

    def name(text: str) -> bytes:
        return count(len(text)) + text.encode() + bytes(-len(text) % 4)

    def variable(text: str, attributes: bytes, kind: int, begin: int) -> bytes:
        place = struct.pack(">I" if version == 1 else ">Q", begin)
        axes = count(2) + count(0) + count(1)
        return name(text) + axes + attributes + word(kind) + count(8) + place

    scale = name("scale_factor") + word(6) + count(1) + struct.pack(">d", 0.5)
    fill = name("_FillValue") + word(3) + count(1) + struct.pack(">h", -7) + bytes(2)
    packed = word(12) + count(2) + scale + fill
    header = b"CDF" + bytes([version]) + count(records)
    header += word(10) + count(2) + name("t") + count(0) + name("n") + count(3)
    header += word(12) + count(1) + name("title") + word(2) + count(2) + b"ab" + bytes(2)
    header += word(11) + count(2) + variable("a", packed, 3, 400)
    header += variable("b", word(0) + count(0), 1, 408)
    values = struct.pack(">3h", 1, -7, 3) + bytes(2) + bytes([1, 2, 3, 0])
    return header.ljust(400, b"\0") + 3 * values


def write_netcdf() -> None:
    """The three classic formats."""
    for version in (1, 2, 5):
        put("netcdf", f"cdf{version}", netcdf(version, 3))
    put("netcdf", "stream", netcdf(1, 0xFFFFFFFF))
    put("netcdf", "claims", netcdf(5, 1 << 60))
    put("netcdf", "cut", netcdf(2, 3)[:250])


def archive(format_: int, members: list[tuple[str, bytes]]) -> bytes:
    """A tar archive, in one record."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format_) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue().rstrip(b"\0") + bytes(1536)


def aligned(content: bytes) -> bytes:
    """Whole blocks of 512 bytes."""
    return content + bytes(-len(content) % 512)


def huge_member() -> bytes:
    """A member that claims 2^60 bytes."""
    info = tarfile.TarInfo("000.jpg")
    info.size = 2**60
    return info.tobuf(tarfile.GNU_FORMAT) + pixels(512) + bytes(1024)


def write_archives() -> None:
    """Tar archives."""
    two = [("000.jpg", b"image"), ("000.cls", b"7"), ("001.jpg", b"other"), ("001.cls", b" 12\n")]
    put("tar", "ustar", aligned(archive(tarfile.USTAR_FORMAT, two)))
    long_name = "folder/" * 20 + "000"
    named = [(long_name + ".jpg", b"image"), (long_name + ".cls", b"1")]
    put("tar", "gnu_name", aligned(archive(tarfile.GNU_FORMAT, named)))
    put("tar", "pax_name", aligned(archive(tarfile.PAX_FORMAT, named)))
    labelled = [("a.png", b"image"), ("a.json", b'{"text": "x", "label": -3}')]
    put("tar", "json", aligned(archive(tarfile.USTAR_FORMAT, labelled)))
    put("tar", "huge_member", huge_member())
    plain = aligned(archive(tarfile.USTAR_FORMAT, two))
    put("tar_packed", "plain", plain)
    put("tar_packed", "gzip", gzip.compress(plain, 9, mtime=0))
    put(
        "tar_packed",
        "members",
        gzip.compress(plain[:700], mtime=0) + gzip.compress(plain[700:], mtime=0),
    )
    put("tar_packed", "bomb", gzip.compress(huge_member() + bytes(2_000_000), 9, mtime=0))
    put("tar_packed", "zstd", (FIXTURES / "tar" / "packed" / "pax.tar.zst").read_bytes())


def write_records() -> None:
    """TFRecord files, and examples that the target puts into one."""
    records = FIXTURES / "tfrecord"
    by_hand = (records / "by_hand.tfrecord").read_bytes()
    package = (records / "package-00000-of-00001").read_bytes()
    for name, content in (("by_hand", by_hand), ("package", package)):
        length = struct.unpack("<Q", content[:8])[0]
        put("tfrecord", name, content[: length + 16])
        put("tfrecord", name + "_example", content[12 : length + 12])


def tiff_with_tiles() -> bytes:
    """A TIFF of one pixel that claims 10^9 tiles."""
    entries = [
        (256, 4, 1, 1),
        (257, 4, 1, 1),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (277, 3, 1, 1),
        (322, 4, 1, 16),
        (323, 4, 1, 16),
        (324, 4, 1_000_000_000, 8),
        (325, 4, 1_000_000_000, 8),
    ]
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + body + bytes(4) + bytes(64)


def field(name: bytes, dtype: int, dims: list[int], content: bytes) -> bytes:
    """A field of a sample, as cache.disk keeps it."""
    head = struct.pack("<H", len(name)) + name + struct.pack("<BB", dtype, len(dims))
    return head + struct.pack(f"<{len(dims)}q", *dims) + content


def write_samples() -> None:
    """Samples of cache.disk."""
    image, label = field(b"image", 0, [2, 1, 3], pixels(6)), field(b"label", 0, [], b"7")
    put("sample_bytes", "two", struct.pack("<IH", 0x31534243, 2) + image + label)
    most = 2**31 - 1
    none = field(b"x", 0, [0, most, most, most], b"")
    put("sample_bytes", "found-overflow", struct.pack("<IH", 0x31534243, 1) + none)


def write_images() -> None:
    """Fixtures of each format, and a hostile one."""
    for name in IMAGES:
        put("image", name, (FIXTURES / "decode" / name).read_bytes())
    put("image", "tiles.tif", tiff_with_tiles())
    rows = struct.pack("<IIII", 8, 0, 0, 0)
    put("image", "loop.tif", b"II*\0" + rows)
