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


def padded(lengths: list[int], to: int, value: float = 0, features: int = 0) -> Any:
    """Rows of ones to nines of these lengths."""
    shape = (len(lengths), to, features) if features else (len(lengths), to)
    rows = 1 + torch.arange(int(numpy.prod(shape))).reshape(shape) % 9
    for row, length in zip(rows, lengths):
        row[length:] = value
    return rows


def test_padding_beyond_the_longest_sample_is_named_and_the_line_leaves_it_out() -> None:
    ids = padded([100, 300, 250, 40], 2048, 0)
    found = findings({"ids": ids}, SAMPLES)
    [padding] = [each for each in found if not each.narrower]
    assert padding.saved == 8 * (2048 - 300)
    assert padding.text.startswith("92% of batch['ids'] (int64) is padding, 0 at the end of axis 1")
    held = {"batch": {"ids": ids}}
    exec(padding.line.split("  # ")[0], held)
    assert torch.equal(held["batch"]["ids"], ids[:, :300])
    [narrower] = [each for each in found if each.narrower]
    assert "uint8 holds them" in narrower.text


@pytest.mark.parametrize("value", [0, -100, 11])
def test_samples_of_different_length_are_better_sorted(value: int) -> None:
    [padding] = [
        each
        for each in findings(padded([1024, 300, 250, 40], 1024, value), SAMPLES)
        if not each.narrower
    ]
    used = 1 - (1024 + 300 + 250 + 40) / 4096
    assert padding.text.startswith(f"{used:.0%} of batch (int64) is padding, {value} at the end")
    assert "similar length" in padding.text and "batch_sampler" in padding.line
    assert padding.saved == pytest.approx(8 * 1024 * used - 8)


def test_padding_of_spectrograms_is_found_along_either_axis() -> None:
    by_time = padded([100, 30, 25, 40], 100, features=80) + 0.5
    by_time[by_time == 0.5] = 0
    for batch, axis in ((by_time, 1), (by_time.transpose(1, 2).contiguous(), 2)):
        [padding] = findings(batch, SAMPLES)
        assert f"0 at the end of axis {axis}" in padding.text


def test_few_values_among_zeros_are_sent_with_their_positions() -> None:
    words = torch.zeros(SAMPLES, 30_000)
    words[:, ::100] = torch.rand(SAMPLES, 300) + 0.1
    [finding] = findings(words, SAMPLES)
    assert finding.text.startswith("99% of batch (float32) is zero")
    assert finding.saved == 4 * 30_000 - 8 * 300
    code, back = finding.line.split("  # in collate_fn; on the device ")
    held = {"torch": torch, "batch": words}
    exec(code, held)
    held["places"], held["values"] = held["batch"]
    assert torch.equal(eval(back, held), words)


@pytest.mark.parametrize(
    "batch",
    [
        torch.rand(SAMPLES, 2048),
        torch.nn.functional.relu(torch.randn(SAMPLES, 2048)),
        torch.cat([torch.rand(SAMPLES, 2040), torch.zeros(SAMPLES, 8)], dim=1),
        torch.full((SAMPLES, 2048), 0.25),
        torch.zeros(SAMPLES, 8, dtype=torch.float64),
        torch.full((SAMPLES, 2048), float("nan")),
    ],
    ids=["full", "half", "little", "constant", "small", "nan"],
)
def test_of_what_is_full_nothing_is_said(batch: Any) -> None:
    assert texts(batch) == []


def test_a_job_that_pads_says_how_not_to() -> None:
    rows = padded([512, 30, 60, 100] * 4, 512)
    job = Job(DataLoader(TensorDataset(rows), batch_size=4), KeptState(()))
    try:
        described = job.describe(PassThrough(), [])
        assert any("similar length" in note for note in described["notes"])
        assert ".to(torch.uint8)" in described["advice"]["narrower"]
    finally:
        job.close()
