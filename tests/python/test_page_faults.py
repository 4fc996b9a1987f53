"""Memory that workers give back and get anew: how much, and what keeping it does."""

from __future__ import annotations

import ctypes
import os
import resource
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset

from cachebisect._chain import facts
from cachebisect._job import loaders, page_faults
from cachebisect._job.job import Job
from cachebisect._job.page_faults import count_page_faults, seconds_per_fault, worth_counting
from cachebisect._job.pass_through import PassThrough
from cachebisect._job.state import KeptState
from cachebisect._worker import allocator
from job_blocks import live, run
from loaders import Items

BYTES = 128 << 20
"""Of a buffer: more than glibc keeps by itself. Of a heap that was larger before it keeps up to
64 MiB (mallopt(3), M_TRIM_THRESHOLD)."""
BATCH = 2
_PR_SET_THP_DISABLE = 41

needs_glibc = pytest.mark.skipif(bool(allocator.why_not()), reason=allocator.why_not())


class Buffers(Dataset):  # type: ignore[type-arg]
    """A sample is how many page faults its buffer took."""

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, _index: int) -> Any:
        ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)  # One fault for each page.
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        bytearray(BYTES)
        return torch.tensor(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(loaders, "worth_counting", lambda _seconds, workers: workers > 0)
    made: list[Job] = []

    def make(dataset: Any, workers: int = 1) -> Job:
        loader = DataLoader(dataset, batch_size=BATCH, num_workers=workers)
        made.append(Job(loader, KeptState(())))
        return made[-1]

    yield make
    for one in made:
        one.close()


PAGES = BYTES // os.sysconf("SC_PAGE_SIZE")


@needs_glibc
def test_a_live_arm_keeps_memory_in_its_workers_alone(job: Any) -> None:
    measured = job(Buffers())
    kept = live(malloc='"keep"')
    assert measured.supports(kept), measured.why
    assert int(run(measured, live())[-1].min()) >= PAGES
    assert int(run(measured, kept)[-1].max()) < PAGES / 100
    assert int(run(measured, live())[-1].min()) >= PAGES, "other workers are as before"
    assert int(Buffers()[0]) >= PAGES, "so is this process"


@needs_glibc
@pytest.mark.parametrize("workers", [1, 2])
def test_it_is_proposed_where_pages_are_got_anew(job: Any, workers: int) -> None:
    measured = job(Buffers(), workers)
    assert measured._loader.found.faults.per_sample >= 0.9 * PAGES
    described = measured.describe(PassThrough(), [])
    assert "libc.mallopt(-4, 0)" in described["advice"]["malloc"]
    assert '"keep"' in described["advice"]["malloc"]
    assert any("pages of memory anew for each sample" in note for note in described["notes"])


@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_is_said_of_other_loaders(job: Any, workers: int) -> None:
    described = job(Items(), workers).describe(PassThrough(), [])
    assert "malloc" not in described["advice"]
    assert not any("pages of memory" in note for note in described["notes"])
    assert "malloc" in {setting["name"] for setting in described["settings"]}


def test_an_allocator_that_cannot_is_not_tried(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    glibc = {"mallopt": None, "gnu_get_libc_version": None}
    assert allocator.why_not(types.SimpleNamespace(**glibc)) == ""
    assert "jemalloc" in allocator.why_not(types.SimpleNamespace(**glibc, mallctl=None))
    assert "not glibc" in allocator.why_not(types.SimpleNamespace(mallopt=None))
    measured = job(Items())
    monkeypatch.setattr(allocator, "why_not", lambda: "this process allocates by jemalloc")
    assert not measured.supports(live(malloc='"keep"'))
    assert measured.why == "this process allocates by jemalloc"


def counted(monkeypatch: pytest.MonkeyPatch, used: list[tuple[int, float]], sent: float) -> Any:
    """What is said of rounds of 10 samples that start and end at `used`; a fault takes 1 us."""
    given = iter(used)
    monkeypatch.setattr(page_faults, "_used", lambda _pids: next(given))
    monkeypatch.setattr(page_faults, "_SENDING", 1000)
    return count_page_faults(lambda: None, [1], 10, sent, seconds=1e-6)


def test_the_round_with_the_fewest_counts_without_what_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = [(0, 0.0), (90_000, 0.5), (130_000, 0.7), (172_000, 0.9)]
    found = counted(monkeypatch, used, 9_000 * os.sysconf("SC_PAGE_SIZE"))
    assert found.per_sample == pytest.approx(3000)
    assert found.share == pytest.approx(0.03 / 0.2)
    assert found.is_much and "3,000 pages" in found.text() and "15%" in found.text()
    few = counted(monkeypatch, [(0, 0.0), (100, 0.2), (200, 0.4), (300, 0.6)], 0)
    assert not few.is_much
    all_sent = counted(monkeypatch, [(0, 0.0), (100, 0.2), (200, 0.4), (300, 0.6)], 1e9)
    assert all_sent.per_sample == 0


def test_where_the_system_counts_nothing_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(monkeypatch, [(0, 0.0)] * 4, 0) is None
    assert facts.page_faults(0) == 0
    assert facts.page_faults(os.getpid()) > 0


def test_slow_batches_are_not_made_again_for_it() -> None:
    assert worth_counting(0.01, 2)
    assert not worth_counting(10.0, 1)
    assert not worth_counting(0.5, 1 << 16)
    assert not worth_counting(0.01, 0)
    assert 0 < seconds_per_fault() < 1
