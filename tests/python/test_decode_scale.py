"""JPEG images are decoded at a part of their size where a live arm asks for it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain.settings import described_settings
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._worker.decode_scale import decode_at
from job_blocks import live, run

WIDTH, HEIGHT = 64, 48


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "image.jpg"
    Image.new("RGB", (WIDTH, HEIGHT), (200, 30, 60)).save(path)
    return path


@pytest.fixture
def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What decode_at() replaces is as before after the test."""
    monkeypatch.setattr(Image, "open", Image.open)


@pytest.mark.usefixtures("put_back")
def test_pil_gives_jpeg_images_at_a_part_of_their_size(image: Path, tmp_path: Path) -> None:
    decode_at(2)
    assert Image.open(image).convert("RGB").size == (WIDTH // 2, HEIGHT // 2)
    with image.open("rb") as file:
        assert Image.open(file).convert("L").size == (WIDTH // 2, HEIGHT // 2)
    assert Image.open(io.BytesIO(image.read_bytes())).size == (WIDTH // 2, HEIGHT // 2)
    png = tmp_path / "image.png"
    Image.new("RGB", (WIDTH, HEIGHT)).save(png)
    assert Image.open(png).size == (WIDTH, HEIGHT)
    with pytest.raises(FileNotFoundError):
        Image.open(tmp_path / "none.jpg")


@pytest.mark.usefixtures("put_back")
def test_so_does_cv2_unless_it_is_asked_for_something_else(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cv2 = pytest.importorskip("cv2")
    numpy = pytest.importorskip("numpy")
    monkeypatch.setattr(cv2, "imread", cv2.imread)
    monkeypatch.setattr(cv2, "imdecode", cv2.imdecode)
    decode_at(5)  # The next one below is 4.
    assert cv2.imread(str(image)).shape == (HEIGHT // 4, WIDTH // 4, 3)
    encoded = numpy.frombuffer(image.read_bytes(), "u1")
    assert cv2.imdecode(encoded, cv2.IMREAD_COLOR).shape == (HEIGHT // 4, WIDTH // 4, 3)
    assert cv2.imread(str(image), cv2.IMREAD_GRAYSCALE).shape == (HEIGHT, WIDTH)


class Images(Dataset):  # type: ignore[type-arg]
    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        return 16

    def __getitem__(self, _index: int) -> Any:
        with Image.open(self.path) as image:
            return torch.tensor(image.convert("RGB").size)


@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_a_live_arm_does_it_in_its_workers(image: Path, context: str) -> None:
    original = Image.open
    loader = DataLoader(Images(image), batch_size=4, num_workers=1, multiprocessing_context=context)
    job = Job(loader, KeptState(()))
    try:
        arm = live(decode_scale="2")
        assert job.chain.decodes
        assert job.supports(arm), job.why
        assert run(job, live())[0].tolist() == [[WIDTH, HEIGHT]] * 4
        assert run(job, arm)[0].tolist() == [[WIDTH // 2, HEIGHT // 2]] * 4
    finally:
        job.close()
    assert Image.open is original


def test_it_is_a_setting_of_images_alone() -> None:
    def names(decodes: bool) -> set[str]:
        return {each["name"] for each in described_settings(decodes=decodes)["settings"]}

    assert names(True) - names(False) == {"decode_scale"}
