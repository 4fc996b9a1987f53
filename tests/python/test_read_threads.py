"""Samples that several threads of each worker make: `read_threads=8`."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Subset, get_worker_info

from cachebisect._chain.settings import READ_THREADS, SETTINGS
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._worker import thread_check
from cachebisect._worker.side_by_side import SideBySide
from cachebisect._worker.thread_check import Found, ThreadCheck
from cachebisect._worker.threaded_reads import ThreadedReads
from child_processes import children_left
from engine import TestEngine
from job_blocks import live, run
from loaders import Compose, Failing, Items, Member, Stream, WholeBatches
from measured import measure

SECONDS = 120.0
"""No thread of a test waits that long."""


def in_thread() -> bool:
    return threading.current_thread() is not threading.main_thread()


def reading_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name == "cachebisect_read"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert reading_threads() == []
    assert children_left() == 0


@pytest.fixture
def job() -> Iterator[Any]:
    made: list[Job] = []

    def make(loader: Any, device: Any = None) -> Job:
        made.append(Job(loader, KeptState(()), device))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def threads() -> Iterator[Any]:
    made: list[ThreadedReads] = []

    def make(dataset: Any, count: int = 4) -> ThreadedReads:
        made.append(ThreadedReads(dataset, count))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Meeting(Items):
    """In threads each sample waits until `count` of them are in work."""

    def __init__(self, count: int, transform: Any = None) -> None:
        super().__init__(transform)
        self.count = count
        self.meeting = threading.Barrier(count)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "meeting": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, meeting=threading.Barrier(state["count"]))

    def meet(self) -> None:
        if in_thread():
            self.meeting.wait(SECONDS)

    def __getitem__(self, index: int) -> Any:
        self.meet()
        return super().__getitem__(index)


class SharedPosition(Meeting):
    """As a file that is sought to a sample, and then read: another thread seeks in between."""

    def __init__(self, transform: Any = None) -> None:
        super().__init__(2, transform)
        self.position = -1

    def __getitem__(self, index: int) -> Any:
        self.position = index
        self.meet()
        return Items.__getitem__(self, self.position)


class SharedLabel(SharedPosition):
    """Its images are right, its labels not."""

    def __getitem__(self, index: int) -> Any:
        _, label = super().__getitem__(index)
        return Items.__getitem__(self, index)[0], label


class Unshared(SharedPosition):
    """As a library that notices it."""

    def __getitem__(self, index: int) -> Any:
        sample = super().__getitem__(index)
        if sample[1] != index:
            self.meeting.abort()  # Nobody comes to the next one.
            raise OSError("read of closed page")
        return sample


class Jitter(Member):
    def __call__(self, x: Any) -> Any:
        return x + torch.rand(())


class Noise(Items):
    """Nothing of it is the same each time."""

    def __getitem__(self, index: int) -> Any:
        return torch.rand(3)


class Absent(Items):
    def __getitem__(self, index: int) -> Any:
        if index > 20:
            raise FileNotFoundError("img/21.jpg")
        return super().__getitem__(index)


class OfWorker(Items):
    """What the user's code sees of the worker, and whether it is in its main thread. Drawn numbers
    keep that from being compared."""

    opened = False

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        own = info is None or info.dataset is self
        facts = [index, own, self.opened, in_thread(), os.getpid(), torch.rand(())]
        return torch.tensor(facts, dtype=torch.float64)


def open_in_worker(_worker: int) -> None:
    info = get_worker_info()
    assert info is not None
    info.dataset.opened = True  # type: ignore[attr-defined]


class NeedsWorker(OfWorker):
    """Fails where worker_init_fn has not run."""

    def __getitem__(self, index: int) -> Any:
        if get_worker_info() is not None and not self.opened:
            raise ValueError("not opened")
        return super().__getitem__(index)


def arm(threads: int, **overrides: Any) -> dict[str, Any]:
    return live(read_threads=str(threads), **overrides)


def why(measured: Job, one: dict[str, Any]) -> str:
    """Why it cannot run."""
    assert not measured.supports(one)
    return measured.why


# Threads


def test_samples_come_in_order_each_once(threads: Any) -> None:
    made: list[int] = []

    class Noted(Items):
        def __getitem__(self, index: int) -> Any:
            made.append(index)
            return super().__getitem__(index)

    reads = threads(Noted())
    indices = [5, 3, 60, 0, 7, 41, 9]
    for _ in range(50):
        made.clear()
        assert [label for _, label in reads.__getitems__(indices)] == indices
        assert sorted(made) == sorted(indices)
    assert reads.__getitems__([]) == []
    assert len(reading_threads()) == 4


def test_they_run_side_by_side(threads: Any) -> None:
    reads = threads(Meeting(4))
    assert [label for _, label in reads.__getitems__(list(range(16)))] == list(range(16))


def test_a_small_batch_begins_few_threads(threads: Any) -> None:
    reads = threads(Items(), 256)
    reads.__getitems__([1, 2])
    assert len(reading_threads()) <= 2


def test_the_first_error_in_the_order_of_samples_is_raised(threads: Any) -> None:
    later = threading.Event()

    class FailingTwice(Items):
        def __getitem__(self, index: int) -> Any:
            if index == 3:
                later.set()
                raise OSError("the later one")
            if index == 1:
                assert later.wait(SECONDS)
                raise LookupError("the first one")
            return super().__getitem__(index)

    reads = threads(FailingTwice())
    with pytest.raises(LookupError, match="the first one") as raised:
        reads.__getitems__([0, 1, 2, 3])
    assert "__getitem__" in [frame.name for frame in traceback.extract_tb(raised.tb)]
    later.set()
    assert [label for _, label in reads.__getitems__([0, 2])] == [0, 2]  # It goes on.


def test_no_sample_is_begun_after_an_error() -> None:
    begun: list[int] = []

    def make(number: int) -> int:
        begun.append(number)
        return 1 // (number - 2)

    one = SideBySide(1)
    with pytest.raises(ZeroDivisionError):
        one.map(make, range(9))
    one.close()
    assert begun == [0, 1, 2]


@pytest.fixture
def python_handles_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_does_not_wait_for_a_sample(python_handles_ctrl_c: None, threads: Any) -> None:
    goes_on, begun = threading.Event(), []

    class Stuck(Items):
        def __getitem__(self, index: int) -> Any:
            begun.append(index)
            if index == 1:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]
                assert goes_on.wait(SECONDS)
            return super().__getitem__(index)

    reads = threads(Stuck(), 1)
    with pytest.raises(KeyboardInterrupt):
        reads.__getitems__([0, 1, 2, 3])
    goes_on.set()
    reads.close()
    assert begun == [0, 1]


def test_neither_pickling_nor_forking_takes_threads_along(threads: Any) -> None:
    reads = threads(Items())
    reads.__getitems__([0, 1])
    again = pickle.loads(pickle.dumps(reads))
    assert again._side_by_side is None
    context = multiprocessing.get_context("fork")
    labels = context.SimpleQueue()

    def in_child() -> None:
        labels.put([label for _, label in reads.__getitems__([2, 3])])
        reads.close()

    child = context.Process(target=in_child)
    child.start()
    child.join(SECONDS)
    assert child.exitcode == 0 and labels.get() == [2, 3]


def test_attributes_are_those_of_the_dataset(threads: Any) -> None:
    dataset = Items(length=9)
    reads = threads(dataset)
    assert len(reads) == 9 and reads.length == 9 and reads[4][1] == 4
    reads.opened = True
    assert dataset.opened  # type: ignore[attr-defined]


# Live arms


@pytest.mark.parametrize("workers", [0, 2])
def test_a_live_arm_trains_on_batches_that_threads_make(workers: int, job: Any) -> None:
    loader = DataLoader(Meeting(4), batch_size=8, num_workers=workers)
    measured = job(loader)
    assert measured.supports(arm(4)), measured.why
    assert measured.why == ""
    for _ in range(2):
        for x, labels in run(measured, arm(4)):
            assert len(set(labels.tolist())) == 8
            assert torch.equal(x, labels.float()[:, None].expand(8, 4))
    serial = run(measured, live())
    assert len(serial) == 3


def test_the_order_is_that_of_the_sampler(job: Any) -> None:
    measured = job(DataLoader(Items(), batch_size=8, num_workers=2))
    labels = torch.cat([labels for _, labels in run(measured, arm(3))]).tolist()
    assert labels == [(labels[0] + n) % 64 for n in range(24)]


@pytest.mark.parametrize("overrides", [{"num_workers": "1"}, {"workers": "2"}, {}])
def test_the_user_s_code_sees_its_own_dataset(overrides: Any, job: Any) -> None:
    loader = DataLoader(NeedsWorker(), batch_size=4, num_workers=1, worker_init_fn=open_in_worker)
    measured = job(loader)
    assert measured.supports(arm(2, **overrides)), measured.why
    batches = torch.cat(run(measured, arm(2, **overrides)))
    assert torch.all(batches[:, 1:4] == 1)
    assert len(set(batches[:, 4].tolist()) - {os.getpid()}) == int(overrides.get("workers", 1))


def test_without_workers_the_training_process_has_the_threads(job: Any) -> None:
    measured = job(DataLoader(OfWorker(), batch_size=4, num_workers=1))
    batches = torch.cat(run(measured, arm(2, num_workers="0")))
    assert set(batches[:, 4].tolist()) == {os.getpid()} and torch.all(batches[:, 3] == 1)
    measured.close()
    assert reading_threads() == []


def test_workers_of_every_start_method(job: Any) -> None:
    measured = job(DataLoader(OfWorker(), batch_size=4, num_workers=1))
    served = arm(2, multiprocessing_context='"forkserver"')
    assert measured.supports(served), measured.why
    assert torch.all(torch.cat(run(measured, served))[:, 3] == 1)


def test_with_a_cache(job: Any) -> None:
    measured = job(DataLoader(Items(Compose([Member(5)]), 40), batch_size=4))
    both = arm(2, cache='"transforms[0]"')
    assert measured.supports(both), measured.why
    for x, labels in run(measured, both):
        assert torch.equal(x[:, 0], labels.float() + 5)


def test_a_subset_is_read_sample_by_sample(job: Any) -> None:
    measured = job(DataLoader(Subset(Meeting(2), range(32, 64)), batch_size=4, num_workers=1))
    assert measured.supports(arm(2)), measured.why
    assert all(labels.min() >= 32 for _, labels in run(measured, arm(2)))


def test_stages_are_not_counted_in_threads(job: Any) -> None:
    """What stands in their places while they are timed is for one thread."""
    measured = job(DataLoader(Meeting(4, Compose([Member()])), batch_size=8, num_workers=1))
    block = measured.begin_block({"arm": arm(4), "steps": 4, "warmup_steps": 0})
    while not block.enter():
        block.take()
    block.end()
    stages = dict(zip([s.name for s in measured.chain.stages], block.result()["stages"]))
    for name, stage in stages.items():
        if name != "transfer":
            assert stage["samples"] == 0, name


@pytest.mark.parametrize("workers", [0, 1])
def test_the_error_of_a_sample_is_that_of_the_block(workers: int, job: Any) -> None:
    measured = job(DataLoader(Failing(), batch_size=4, num_workers=workers))
    with pytest.raises(ValueError, match="bad sample 4"):
        for _ in range(6):
            run(measured, arm(2))


class StuckInThread(Items):
    """From when the test says so."""

    def __init__(self) -> None:
        super().__init__(length=100000)
        self.sticks, self.is_stuck = multiprocessing.Event(), multiprocessing.Event()
        self.goes_on = multiprocessing.Event()

    def __getitem__(self, index: int) -> Any:
        if in_thread() and self.sticks.is_set():
            self.is_stuck.set()
            self.goes_on.wait(SECONDS)
        return super().__getitem__(index)


@pytest.mark.parametrize("workers", [0, 1])
def test_stop_is_answered_while_threads_are_stuck(workers: int, tmp_path: Any) -> None:
    dataset = StuckInThread()

    def script(engine: TestEngine) -> None:
        names = [setting["name"] for setting in engine.greet()["settings"]]
        assert "read_threads" in names
        assert engine.ask("supports", arm=arm(2))["supported"]
        for _ in range(3):  # With the queue that the last block has left.
            block = engine.run("live", overrides={"read_threads": "2"})
            assert block["steps"] == 4 and not block["void"]
        dataset.sticks.set()
        engine.send("run", arm=arm(2), steps=400, warmup_steps=0, seed=1)
        assert dataset.is_stuck.wait(SECONDS)
        answer = engine.stop()
        assert answer["type"] == "error" and answer["kind"] == "interrupted", answer
        dataset.goes_on.set()
        engine.finish()

    measure(DataLoader(dataset, batch_size=4, num_workers=workers), script, tmp_path)


# What is refused


@pytest.mark.parametrize(
    "dataset,arguments,words",
    [
        (Stream(shards=1), {"batch_size": 4}, "an iterable dataset"),
        (WholeBatches(), {"batch_size": 4}, "__getitems__"),
        (Subset(WholeBatches(), range(8)), {"batch_size": 4}, "__getitems__"),
        (Items(), {"batch_size": None}, "makes no batches"),
    ],
)
def test_what_is_not_read_sample_by_sample(
    dataset: Any, arguments: Any, words: str, job: Any
) -> None:
    measured = job(DataLoader(dataset, **arguments))
    assert words in why(measured, arm(4))
    assert not measured.chain.single_samples


def test_other_iterables_have_no_threads(job: Any) -> None:
    measured = job([torch.zeros(4, 2)] * 100)
    assert not measured.supports(arm(4)) and not measured.chain.single_samples


def test_it_does_not_go_with_stages_on_the_device(job: Any) -> None:
    measured = job(DataLoader(Items(Compose([Member()])), batch_size=4), torch.device("meta"))
    assert measured.chain.single_samples
    assert "on the device" in why(measured, arm(2, on_device='"transforms[0]"'))
    assert measured.supports(arm(2, non_blocking="true"))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    "dataset,words",
    [
        (SharedPosition, "gives other samples when 2 threads share it: a file position"),
        (Unshared, "fails when 2 threads share it: OSError: read of closed page"),
    ],
)
def test_a_dataset_that_threads_cannot_share(
    workers: int, dataset: Any, words: str, job: Any
) -> None:
    own = dataset()
    measured = job(DataLoader(own, batch_size=4, num_workers=workers))
    before = own.position
    assert words in why(measured, arm(2))
    assert own.position == before  # Another process has tried it.
    with pytest.raises(ValueError, match="share it"):
        run(measured, arm(2))
    assert len(run(measured, live())) == 3


@pytest.mark.parametrize("dataset", [SharedPosition, SharedLabel])
def test_random_stages_do_not_hide_it(dataset: Any, job: Any) -> None:
    """What the first of them is called with tells, and so do the labels."""
    measured = job(DataLoader(dataset(Compose([Member(), Jitter()])), batch_size=4))
    assert "gives other samples" in why(measured, arm(2))


def test_random_stages_are_no_reason(job: Any) -> None:
    transform = Compose([Member(), Jitter(), Member()])
    measured = job(DataLoader(Meeting(2, transform), batch_size=4))
    assert measured.supports(arm(2)) and measured.why == ""


def test_what_cannot_be_checked_runs_and_is_said(job: Any) -> None:
    measured = job(DataLoader(Noise(), batch_size=4))
    assert measured.supports(arm(2))
    assert "could not be checked" in measured.why
    assert len(run(measured, arm(2))) == 3
    assert measured.supports(live(num_workers="0")) and measured.why == ""


def test_a_dataset_that_fails_by_itself_says_so(job: Any) -> None:
    measured = job(DataLoader(Absent(), batch_size=4, num_workers=1))
    assert "img/21.jpg" in why(measured, arm(2))


def test_a_slow_dataset_is_checked_on_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_check, "_SECONDS", 0.0)
    made: list[int] = []

    class Noted(Items):
        def __getitem__(self, index: int) -> Any:
            made.append(index)
            return super().__getitem__(index)

    check = ThreadCheck(Noted(), 2, (), False)
    assert check.__getitems__(range(32)) == Found()
    check.close()
    assert sorted(made) == [0] * 4 + [1] * 4


def test_threads_that_wait_for_each_other_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thread_check, "_PATIENCE", 0.0)
    monkeypatch.setattr(thread_check, "_PATIENCE_SECONDS", 0.0)
    goes_on = threading.Event()

    class Waiting(Items):
        def __getitem__(self, index: int) -> Any:
            assert not in_thread() or goes_on.wait(SECONDS)
            return super().__getitem__(index)

    check = ThreadCheck(Waiting(), 2, (), False)
    found = check.__getitems__(range(8))
    goes_on.set()
    check.close()
    assert "they wait for each other" in found.why


def test_workers_whose_threads_are_stuck_end(job: Any) -> None:
    dataset = StuckInThread()
    measured = job(DataLoader(dataset, batch_size=4, num_workers=1))
    assert measured.supports(arm(2))
    dataset.sticks.set()
    block = measured.begin_block({"arm": arm(2), "steps": 4, "warmup_steps": 0})
    assert dataset.is_stuck.wait(SECONDS)
    block.end()
    measured.close()


# The line of code


def test_the_line_of_code_does_it() -> None:
    setting = next(setting for setting in SETTINGS if setting.name == READ_THREADS)
    pool, method = setting.code.replace("{}", "4").split("  # then, in the Dataset: ")
    names: dict[str, Any] = {"functools": functools, "ThreadPoolExecutor": ThreadPoolExecutor}
    exec(f"import os\n{pool}\n{method}", names)

    class Changed(Meeting):
        __getitems__ = names["__getitems__"]

    for _, labels in DataLoader(Changed(4), batch_size=8):
        assert len(labels) == 8
    names["pool"](os.getpid()).shutdown()
    assert json.loads(json.dumps(setting.to_json()))["values"] == {"min": 1, "max": 256}
