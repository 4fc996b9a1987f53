"""The request `storage`: all workers of a loader count what their samples ask of storage."""

from __future__ import annotations

import builtins
import multiprocessing
import os
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

from cachebisect._job.job import Job
from cachebisect._job.shadow import LoaderGone
from cachebisect._job.state import KeptState
from cachebisect._job.storage import merged
from engine import TestEngine
from http_server import BODY, served
from job_blocks import live, run
from loaders import Compose, Failing, Items, Member, Stream
from measured import every_arm, measure

FOREVER = 1e6
STUCK_SECONDS = 1e6
FIELDS = [
    "samples", "workers", "seconds", "file_opens", "file_reads", "file_bytes", "disk_bytes",
    "page_faults", "requests", "request_seconds", "waiting_seconds", "most_in_flight",
    "received_bytes", "connections", "clients", "throttled", "failed", "reopened",
]  # fmt: skip


class Files(Dataset):  # type: ignore[type-arg]
    """A sample is a file, and what a server says of it."""

    def __init__(self, folder: Path, length: int, url: str = "", transform: Any = None) -> None:
        self.paths = [folder / str(index) for index in range(length)]
        for path in self.paths:
            path.write_bytes(BODY)
        self.url = url
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        sample = torch.tensor([len(self.paths[index].read_bytes())])
        if self.url:
            urllib.request.urlopen(f"{self.url}/{index}").close()
        return sample if self.transform is None else self.transform(sample)


class FilesByBatch(Files):
    def __getitems__(self, indices: Any) -> Any:
        return [self[index] for index in indices]


class FileStream(IterableDataset):  # type: ignore[type-arg]
    """Each sample is one more file, for each of the first `shards` workers."""

    def __init__(self, files: Files, shards: int = 8) -> None:
        self.files = files
        self.shards = shards

    def __iter__(self) -> Any:
        info = torch.utils.data.get_worker_info()
        if info is None or info.id < self.shards:
            for index in range(len(self.files)):
                yield self.files[index]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as address:
        yield address


def counted(loader: Any, samples: int = 16, max_seconds: float = FOREVER) -> dict[str, Any]:
    opener = builtins.open
    job = Job(loader, KeptState(()))
    try:
        found = job.count_storage(samples, max_seconds)
        # The loader goes on as before.
        assert len(run(job, live())) == 3
    finally:
        job.close()
    assert builtins.open is opener
    assert found is not None and sorted(found) == sorted(FIELDS)
    return found


@pytest.mark.parametrize("workers,method", [(0, None), (2, "fork"), (1, "forkserver")])
def test_all_workers_count(workers: int, method: Any, url: str, tmp_path: Path) -> None:
    loader = DataLoader(
        Files(tmp_path, 40, url), 4, num_workers=workers, multiprocessing_context=method
    )
    found = counted(loader)
    assert found["samples"] == found["file_opens"] == found["requests"] == 16
    assert found["connections"] == 16 and found["reopened"] == 0
    assert found["workers"] == max(1, workers)
    assert found["most_in_flight"] == 1
    assert 0 < found["waiting_seconds"] < found["seconds"]
    assert found["received_bytes"] >= 16 * 100  # It reads the heads.


def test_the_request_and_its_answer(url: str, tmp_path: Path) -> None:
    """Between the blocks of all arms, which go on with their queues and caches."""
    dataset = Files(tmp_path, 64, url, Compose([Member(), Member()]))
    found: list[dict[str, Any]] = []

    class Asking:
        """An engine that counts in the middle of every_arm()."""

        def __init__(self, engine: TestEngine) -> None:
            self._engine = engine

        def __getattr__(self, name: str) -> Any:
            if name == "run" and len(found) < 3:
                answer = self._engine.ask("storage", samples=8, max_seconds=FOREVER)
                assert answer["type"] == "storage", answer
                found.append(answer["storage"])
            return getattr(self._engine, name)

        def greet(self) -> Any:
            described = self._engine.greet()
            assert described["chain"]["counts_storage"] is True
            return described

    (tmp_path / "arms").mkdir()
    loader = DataLoader(dataset, 4, num_workers=2)
    measure(loader, lambda engine: every_arm(Asking(engine)), tmp_path / "arms")  # type: ignore[arg-type]
    assert len(found) == 3
    for counts in found:
        assert sorted(counts) == sorted(FIELDS)
        assert counts["samples"] == counts["requests"] == counts["file_opens"] == 8
        assert counts["workers"] == 2


def test_a_loader_whose_samples_are_not_seen(tmp_path: Path) -> None:
    answers: list[Any] = []

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet()["chain"]["counts_storage"])
        answers.append(engine.ask("storage", samples=8, max_seconds=2.0)["storage"])
        engine.finish()

    measure([torch.ones(4, 2)] * 100, script, tmp_path)
    assert answers == [False, None]


@pytest.mark.parametrize("workers", [0, 2])
def test_streams(workers: int, tmp_path: Path) -> None:
    found = counted(DataLoader(FileStream(Files(tmp_path, 100)), 4, num_workers=workers))
    assert found["samples"] == found["file_opens"] == 16
    assert found["workers"] == max(1, workers)


def test_workers_of_a_stream_that_deliver_nothing(tmp_path: Path) -> None:
    found = counted(DataLoader(FileStream(Files(tmp_path, 100), shards=1), 4, num_workers=2))
    assert found["samples"] == found["file_opens"] == 16
    assert found["workers"] == 1


def test_a_stream_that_ends_begins_again() -> None:
    assert counted(DataLoader(Stream(length=5), 2), samples=30)["samples"] == 30


@pytest.mark.parametrize("workers", [0, 2])
def test_datasets_that_read_whole_batches(workers: int, tmp_path: Path) -> None:
    loader = DataLoader(Subset(FilesByBatch(tmp_path, 64), range(64)), 4, num_workers=workers)
    found = counted(loader)
    assert found["samples"] == found["file_opens"] == 16
    assert found["reopened"] == 0


@pytest.mark.parametrize("samples", [16, 1])
def test_datasets_whose_samples_are_batches(samples: int, tmp_path: Path) -> None:
    """Each of the five rows of what it makes counts as a sample."""
    found = counted(DataLoader(Five(tmp_path, 64), batch_size=None), samples)
    assert found["samples"] == 5 * found["file_opens"]
    assert found["file_opens"] == (3 if samples == 16 else 2), "two at least"


class Five(Files):
    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index).repeat(5)


def test_small_data_sets_are_not_read_twice(tmp_path: Path) -> None:
    found = counted(DataLoader(Files(tmp_path, 8), 4), samples=64)
    assert found["samples"] == found["file_opens"] == 7 and found["reopened"] == 0
    (tmp_path / "two").mkdir()
    found = counted(DataLoader(Files(tmp_path / "two", 1), 1), samples=4)
    assert found["samples"] == 4 and found["reopened"] == 3


def test_a_slow_source_is_counted_for_a_sample(tmp_path: Path) -> None:
    loader = DataLoader(Files(tmp_path, 40), 4, num_workers=2)
    assert counted(loader, samples=16, max_seconds=0.0)["samples"] == 2, "one of each worker"


@pytest.mark.parametrize("workers", [0, 2])
def test_what_the_dataset_raises_is_the_answer(workers: int, tmp_path: Path) -> None:
    answers: list[dict[str, Any]] = []
    opener = builtins.open

    def script(engine: TestEngine) -> None:
        engine.greet()
        answers.append(engine.ask("storage", samples=60, max_seconds=FOREVER))
        engine.finish()

    own = DataLoader(Items(), batch_size=4)
    measure(DataLoader(Failing(), 4, num_workers=workers), script, tmp_path, own=own)
    assert builtins.open is opener
    assert answers[0]["type"] == "error" and answers[0]["kind"] == "data"
    # Of two workers either may be the first to meet one.
    assert re.search(r"ValueError: bad sample [4-9]\d ", answers[0]["text"])
    assert "cachebisect/_" not in "".join(answers[0]["traceback"]), "our own frames are left out"


class Stuck(Items):
    """Waits without end in the third of its samples once `wanted` is set, and says so."""

    def __init__(self, wanted: Any, begun: Any, dies: bool = False) -> None:
        super().__init__(length=100000)
        self.wanted = wanted
        self.begun = begun
        self.dies = dies
        self.left = 2
        """Samples before that: the first is not counted."""

    def __getitem__(self, index: int) -> Any:
        if self.wanted.is_set():
            self.left -= 1
            if self.left < 0:
                if self.dies:
                    os._exit(3)
                self.begun.set()
                time.sleep(STUCK_SECONDS)
        return super().__getitem__(index)


@pytest.mark.parametrize("workers", [0, 2])
def test_stop_ends_it(workers: int, tmp_path: Path) -> None:
    wanted, begun = multiprocessing.Event(), multiprocessing.Event()
    opener = builtins.open

    def script(engine: TestEngine) -> None:
        engine.greet()
        wanted.set()
        engine.send("storage", samples=60, max_seconds=FOREVER)
        assert begun.wait(60)
        answer = engine.stop()
        assert answer["type"] == "error" and answer["kind"] == "interrupted", answer
        engine.finish()

    loader = DataLoader(Stuck(wanted, begun), batch_size=4, num_workers=workers)
    own = DataLoader(Items(length=100000), batch_size=4)
    measure(loader, script, tmp_path, own=own)
    assert builtins.open is opener


def test_a_worker_that_dies_ends_it() -> None:
    wanted = multiprocessing.Event()
    job = Job(DataLoader(Stuck(wanted, wanted, dies=True), 4, num_workers=2), KeptState(()))
    try:
        wanted.set()
        with pytest.raises(LoaderGone, match="exited unexpectedly"):
            job.count_storage(16, FOREVER)
    finally:
        job.close()


def test_answers_of_workers_are_one() -> None:
    first = {
        "worker": 0, "samples": 2, "seconds": 1.0, "most_in_flight": 3, "disk_bytes": 5,
        "requests": 7,
    }  # fmt: skip
    second = {**first, "worker": 1, "most_in_flight": 1, "disk_bytes": None}
    idle = {"worker": 2, "samples": 0}
    assert merged([first, second, first, idle]) == {
        "workers": 2, "samples": 6, "seconds": 3.0, "most_in_flight": 3, "disk_bytes": None,
        "requests": 21,
    }  # fmt: skip
    assert merged([first], counts_as=4.0)["samples"] == 8  # type: ignore[index]
    assert merged([idle]) is None
