"""What is said of batches that fewer bytes would hold."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from torch.utils.data import DataLoader, TensorDataset

from cachebisect._chain.payload import findings
from cachebisect._job.job import Job
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState

SAMPLES = 4


def texts(batch: Any) -> list[str]:
    return [finding.text for finding in findings(batch, SAMPLES)]


def test_a_mask_fits_into_bits_and_the_line_gives_it_back() -> None:
    mask = (torch.arange(SAMPLES * 128 * 128) % 3 == 0).reshape(SAMPLES, 128, 128)
    for values, size in ((mask, 1), (mask.to(torch.uint8), 1), (mask.float(), 4)):
        [finding] = findings((torch.rand(SAMPLES, 8), values), SAMPLES)
        assert finding.saved == 128 * 128 * (size - 1 / 8)
        assert "batch[1]" in finding.text and "eight of them fit into a byte" in finding.text
        assert "bytes of a sample" in finding.text
        code, _ = finding.line.split("  # ")
        held = {"torch": torch, "numpy": numpy, "batch": [None, values]}
        exec(code, held)
        packed = held["batch"][1]
        assert packed.numel() == mask.numel() / 8
        bits = torch.arange(7, -1, -1)
        assert torch.equal(((packed[..., None] >> bits) & 1).flatten(-2), mask.long())


@pytest.mark.parametrize(
    ("most", "kind", "narrow", "saved"),
    [
        (20, torch.int64, "uint8", 7),
        (20, torch.float32, "uint8", 3),
        (1000, torch.int64, "int16", 6),
        (50_000, torch.int64, "int32", 4),
    ],
)
def test_label_images_fit_into_fewer_bits(most: int, kind: Any, narrow: str, saved: int) -> None:
    labels = (torch.arange(SAMPLES * 64 * 64) * 13 % (most + 1)).reshape(SAMPLES, 64, 64).to(kind)
    [finding] = findings({"image": torch.rand(SAMPLES, 3), "labels": labels}, SAMPLES)
    assert finding.saved == saved * 64 * 64
    assert f"batch['labels'] ({str(kind)[6:]}) holds whole numbers from 0 to" in finding.text
    assert f"batch['labels'].to(torch.{narrow})" in finding.line
    held = {"torch": torch, "batch": {"labels": labels}}
    exec(finding.line.split("  # ")[0], held)
    assert torch.equal(held["batch"]["labels"].to(kind), labels)


@pytest.mark.parametrize("kind", [torch.float32, torch.int64, torch.bool])
def test_one_hot_labels_fit_into_numbers(kind: Any) -> None:
    labels = torch.eye(2000)[[5, 0, 1999, 7]].to(kind)
    [finding] = findings((torch.rand(SAMPLES, 3), labels), SAMPLES)
    assert finding.saved == 2000 * labels.element_size() - 8
    assert "batch[1]" in finding.text and "is one-hot" in finding.text
    held = {"torch": torch, "batch": [None, labels]}
    exec(finding.line.split("  # ")[0], held)
    assert held["batch"][1].tolist() == [5, 0, 1999, 7]
    labels[0] = 0  # A row of nothing is no number.
    assert "is one-hot" not in texts((torch.rand(SAMPLES, 3), labels))[0]


def test_the_largest_comes_first() -> None:
    small, large = torch.ones(SAMPLES, 40, 40).long(), 2 * torch.ones(SAMPLES, 80, 80).long()
    assert [text.split(" ")[0] for text in texts([small, (large,)])] == ["batch[1][0]", "batch[0]"]


@pytest.mark.parametrize(
    "batch",
    [
        torch.rand(SAMPLES, 3, 64, 64),
        torch.randint(0, 256, (SAMPLES, 3, 64, 64)).to(torch.uint8) | 2,
        (torch.rand(SAMPLES, 3, 64, 64), torch.randint(0, 9, (SAMPLES,))),
        torch.full((SAMPLES, 64, 64), float("nan")),
        torch.full((SAMPLES, 64, 64), float("inf")),
        torch.full((SAMPLES, 64, 64), 1 << 40),
        torch.eye(64).to_sparse(),
        torch.zeros(0),
        ["text", None, 3],
    ],
    ids=["floats", "bytes", "labels", "nan", "inf", "large", "sparse", "none", "objects"],
)
def test_of_what_fits_nothing_is_said(batch: Any) -> None:
    assert texts(batch) == []


def test_a_job_says_it_with_the_line() -> None:
    data = TensorDataset(torch.rand(16, 3), torch.arange(16 * 2048).reshape(16, 2048) % 7)
    job = Job(DataLoader(data, batch_size=4), KeptState(()))
    try:
        described = job.describe(PassThrough(), [])
        assert any("batch[1] (int64)" in note for note in described["notes"])
        assert "batch[1].to(torch.uint8)" in described["advice"]["narrower"]
        assert described["advice"]["fewer_bytes"] == described["advice"]["narrower"]
    finally:
        job.close()
