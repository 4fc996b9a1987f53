"""What making samples asks of storage, by each library. Needs no torch."""

from __future__ import annotations

import asyncio
import builtins
import http.client
import inspect
import io
import mmap
import os
import pickle
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import pytest

from cachebisect._chain import storage_calls, watched
from cachebisect._chain.libraries import holders
from cachebisect._chain.sources import IndexedSource
from cachebisect._worker.storage_counts import count_storage
from cachebisect._worker.storage_events import StorageEvents
from cachebisect._worker.tasks import Stale, StorageWork
from http_server import BODY, MEETING, SECONDS, served

SAMPLES = 6
FOREVER = 1e6


class Made:
    """A dataset: `make(index)` is a sample."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


def counted(
    make: Callable[[int], Any], samples: int = SAMPLES, max_seconds: float = FOREVER
) -> dict[str, Any]:
    """What `samples` samples ask for, after one that is not counted."""
    source = IndexedSource(Made(make), single=False)
    work = StorageWork([list(range(samples + 1))], samples, max_seconds)
    before = installed()
    found = count_storage(source, work, 3, lambda: True)
    assert installed() == before
    assert isinstance(found, dict)
    assert found.pop("worker") == 3
    return found


def installed() -> list[Any]:
    """What stands at all places that are watched."""
    found: list[Any] = [builtins.open, io.open, os.open]
    for call in storage_calls.CALLS:
        held: Any = sys.modules.get(call.module)
        for name in call.callable.split("."):
            held = getattr(held, "__dict__", {}).get(name)
        found.append(held)
    return found


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as address:
        yield address


def fetched(address: str) -> bytes:
    with urllib.request.urlopen(address) as response:
        return bytes(response.read())


# Files


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{index}.bin" for index in range(SAMPLES + 1)]
    for path in paths:
        path.write_bytes(BODY)
    return [str(path) for path in paths]


def by_open(path: str) -> None:
    with open(path, "rb") as file:
        assert file.read() == BODY


def by_path(path: str) -> None:
    assert Path(path).read_bytes() == BODY


def by_descriptor(path: str) -> None:
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
        assert file.read() == BODY


def by_opener(path: str) -> None:
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags)) as file:
        assert file.read() == BODY


@pytest.mark.parametrize("read", [by_open, by_path, by_descriptor, by_opener])
def test_files_are_counted_once(read: Callable[[str], None], files: list[str]) -> None:
    found = counted(lambda index: read(files[index]))
    assert found["samples"] == found["file_opens"] == SAMPLES
    assert found["reopened"] == found["requests"] == found["clients"] == 0
    if found["disk_bytes"] is None:
        pytest.skip("the system does not count reads")
    assert found["file_reads"] >= SAMPLES
    assert found["file_bytes"] >= SAMPLES * len(BODY)


def test_reading_what_is_counted_is_not_counted() -> None:
    found = [counted(lambda index: index) for _ in range(20)]
    assert all(each["file_opens"] == 0 for each in found)
    # Other threads of this process may read now and then.
    assert min(each["file_reads"] for each in found) == 0
    assert min(each["file_bytes"] for each in found) == 0


def test_the_same_file_is_reopened(files: list[str]) -> None:
    def twice(_index: int) -> None:
        by_open(files[0])
        by_open(files[0])

    found = counted(twice)
    assert found["file_opens"] == 2 * SAMPLES
    assert found["reopened"] == 2 * (SAMPLES - 1), "not within one sample"


def test_what_is_not_read_is_not_counted(files: list[str], tmp_path: Path) -> None:
    def write(index: int) -> None:
        with open(tmp_path / "log", "a") as file:
            file.write(str(index))
        os.close(os.open(str(tmp_path), os.O_RDONLY | os.O_DIRECTORY))
        with pytest.raises(FileNotFoundError):
            by_path(str(tmp_path / "missing"))

    assert counted(write)["file_opens"] == 0


def test_files_that_are_mapped(files: list[str]) -> None:
    def mapped(index: int) -> bytes:
        with open(files[index], "rb") as file:
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with view:
            return view[:10]

    found = counted(mapped)
    assert found["file_opens"] == SAMPLES and found["page_faults"] >= 0


def test_arrays_that_are_mapped(files: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    found = counted(lambda index: int(numpy.memmap(files[index], "uint8", "r")[::100].sum()))
    assert found["file_opens"] == SAMPLES


@pytest.mark.parametrize("kept", [True, False])
def test_chunks_of_hdf5_that_are_larger_than_a_sample(kept: bool, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    chunk, rows = 64, 64 * (SAMPLES + 1)
    path = str(tmp_path / "rows.h5")
    with h5py.File(path, "w") as file:
        shape = {"shape": (rows, 1000), "chunks": (chunk, 1000)}
        # What has a checksum is read whole.
        file.create_dataset("rows", dtype="float32", fletcher32=True, **shape)[:] = 1.0
    held = h5py.File(path, "r")

    def row(index: int) -> Any:
        if kept:
            return held["rows"][index * chunk]
        with h5py.File(path, "r") as file:
            return file["rows"][index * chunk]

    found = counted(row)
    assert found["file_opens"] == (0 if kept else SAMPLES)
    assert found["reopened"] == (0 if kept else SAMPLES - 1)
    if found["disk_bytes"] is None:
        pytest.skip("the system does not count reads")
    assert found["file_bytes"] >= SAMPLES * chunk * 4000
    assert found["file_bytes"] < 2 * SAMPLES * chunk * 4000


@pytest.mark.parametrize("library", ["lmdb", "pyarrow", "sqlite3"])
def test_files_that_libraries_open_themselves(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    found = counted(OPENERS[library](str(tmp_path / "data")))
    assert found["file_opens"] == SAMPLES and found["reopened"] == SAMPLES - 1


def open_lmdb(path: str) -> Callable[[int], Any]:
    import lmdb

    lmdb.open(path).close()

    def opened(_index: int) -> None:
        environment = lmdb.open(path, readonly=True)
        assert isinstance(environment, lmdb.Environment) and isinstance(environment, lmdb.open)
        environment.close()

    return opened


def open_parquet(path: str) -> Callable[[int], Any]:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"row": [1, 2, 3]}), path)
    return lambda _index: pyarrow.parquet.read_table(path)


def open_sqlite(path: str) -> Callable[[int], Any]:
    import sqlite3

    return lambda _index: sqlite3.connect(path).close()


OPENERS = {"lmdb": open_lmdb, "pyarrow": open_parquet, "sqlite3": open_sqlite}


# Requests


def test_one_request_after_the_other_each_with_its_connection(url: str) -> None:
    found = counted(lambda index: fetched(f"{url}/slow/{index}"))
    assert found["requests"] == found["connections"] == found["samples"] == SAMPLES
    assert found["most_in_flight"] == 1
    assert found["clients"] == found["reopened"] == found["throttled"] == found["failed"] == 0
    assert found["received_bytes"] >= SAMPLES * len(BODY)
    assert found["request_seconds"] == pytest.approx(found["waiting_seconds"])
    assert SAMPLES * SECONDS <= found["waiting_seconds"] <= found["seconds"]


def test_threads_ask_at_once(url: str) -> None:
    def sample(index: int) -> None:
        with ThreadPoolExecutor(MEETING) as pool:
            list(pool.map(fetched, [f"{url}/meet/{index}/{part}" for part in range(MEETING)]))

    found = counted(sample)
    assert found["most_in_flight"] == MEETING
    assert found["requests"] == found["connections"] == MEETING * SAMPLES
    assert found["waiting_seconds"] < found["request_seconds"]


def test_the_same_request_is_repeated(url: str) -> None:
    def sample(index: int) -> None:
        part = f"bytes={index}-{index}"
        fetched(f"{url}/same")
        asked = urllib.request.Request(f"{url}/ranges", headers={"Range": part})
        urllib.request.urlopen(asked).close()

    found = counted(sample)
    assert found["requests"] == 2 * SAMPLES
    assert found["reopened"] == SAMPLES - 1, "each range is another one"


@pytest.mark.parametrize(
    "status,throttled,failed", [(503, 1, 0), (429, 1, 0), (500, 0, 1), (404, 0, 0)]
)
def test_answers_that_are_none(url: str, status: int, throttled: int, failed: int) -> None:
    def sample(index: int) -> None:
        with pytest.raises(urllib.error.HTTPError):
            fetched(f"{url}/{status}/{index}")

    found = counted(sample)
    assert found["requests"] == SAMPLES
    assert found["throttled"] == throttled * SAMPLES
    assert found["failed"] == failed * SAMPLES


def unused_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_requests_without_an_answer(url: str) -> None:
    refusing = unused_address()

    def sample(index: int) -> None:
        with pytest.raises(urllib.error.URLError):
            fetched(f"{refusing}/{index}")
        with pytest.raises(http.client.RemoteDisconnected):
            fetched(f"{url}/cut/{index}")

    found = counted(sample)
    assert found["requests"] == found["failed"] == 2 * SAMPLES
    assert found["connections"] == SAMPLES


def test_what_the_dataset_raises_is_raised() -> None:
    refusing, before = unused_address(), installed()
    with pytest.raises(urllib.error.URLError):
        counted(lambda index: fetched(refusing) if index else None)
    assert installed() == before


def test_requests_with_and_without_a_session(url: str) -> None:
    requests = pytest.importorskip("requests")
    found = counted(lambda index: requests.get(f"{url}/slow/{index}").content)
    assert found["clients"] == found["requests"] == found["connections"] == SAMPLES
    with requests.Session() as session:
        found = counted(lambda index: session.get(f"{url}/slow/{index}").content)
    assert found["clients"] == found["connections"] == 0
    assert found["requests"] == SAMPLES and found["most_in_flight"] == 1


def test_pools_of_urllib3(url: str) -> None:
    urllib3 = pytest.importorskip("urllib3")
    kept = urllib3.PoolManager()

    def sample(index: int) -> None:
        assert urllib3.PoolManager().request("GET", f"{url}/a/{index}").data == BODY
        assert kept.request("GET", f"{url}/503/{index}", retries=False).status == 503

    found = counted(sample)
    assert found["clients"] == found["connections"] == found["throttled"] == SAMPLES
    assert found["requests"] == 2 * SAMPLES


def test_httpx(url: str) -> None:
    httpx = pytest.importorskip("httpx")
    found = counted(lambda index: httpx.get(f"{url}/slow/{index}").content)
    assert found["clients"] == found["requests"] == found["connections"] == SAMPLES
    assert SAMPLES * SECONDS <= found["waiting_seconds"] <= found["seconds"]
    assert found["received_bytes"] >= SAMPLES * len(BODY)
    refusing = unused_address()
    with httpx.Client() as client:

        def sample(index: int) -> None:
            assert client.get(f"{url}/503/{index}").status_code == 503
            with pytest.raises(httpx.ConnectError):
                client.get(refusing)

        found = counted(sample)
    assert found["clients"] == found["connections"] == 0
    assert found["throttled"] == found["failed"] == SAMPLES
    assert found["reopened"] == SAMPLES - 1


def gathered(one: Callable[[Any, str], Any], client: Any, address: str) -> Callable[[int], Any]:
    """A sample of MEETING requests at once."""

    async def sample(index: int) -> None:
        async with client() as held:
            paths = [f"{address}/meet/{index}/{part}" for part in range(MEETING)]
            assert await asyncio.gather(*[one(held, path) for path in paths]) == [BODY] * MEETING

    return lambda index: asyncio.run(sample(index))


async def get_by_httpx(client: Any, address: str) -> bytes:
    return bytes((await client.get(address)).content)


async def get_by_aiohttp(session: Any, address: str) -> bytes:
    async with session.get(address, headers={"Range": "bytes=0-"}) as response:
        return bytes(await response.read())


@pytest.mark.parametrize(
    "library,client,one",
    [("httpx", "AsyncClient", get_by_httpx), ("aiohttp", "ClientSession", get_by_aiohttp)],
)
def test_coroutines_ask_at_once(library: str, client: str, one: Any, url: str) -> None:
    module = pytest.importorskip(library)
    found = counted(gathered(one, getattr(module, client), url))
    assert found["clients"] == SAMPLES
    assert found["requests"] == found["connections"] == MEETING * SAMPLES
    assert found["most_in_flight"] == MEETING
    assert found["received_bytes"] >= MEETING * SAMPLES * len(BODY)
    assert found["failed"] == found["reopened"] == 0


def test_errors_of_aiohttp(url: str) -> None:
    aiohttp = pytest.importorskip("aiohttp")
    refusing = unused_address()

    async def sample(index: int) -> None:
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            with pytest.raises(aiohttp.ClientResponseError):
                await session.get(f"{url}/503/{index}")
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(refusing)

    found = counted(lambda index: asyncio.run(sample(index)))
    assert found["throttled"] == found["failed"] == SAMPLES
    assert found["requests"] == 2 * SAMPLES


def test_file_systems_of_fsspec(url: str) -> None:
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    kept = fsspec.filesystem("http")
    found = counted(lambda index: kept.cat_file(f"{url}/{index}"))
    assert found["clients"] == 0 and found["requests"] == SAMPLES

    def sample(index: int) -> None:
        fsspec.filesystem("file", skip_instance_cache=True)
        new = fsspec.filesystem("http", skip_instance_cache=True)
        assert fsspec.filesystem("http") is kept
        assert new.cat_file(f"{url}/{index}") == BODY

    found = counted(sample)
    assert found["clients"] == found["requests"] == SAMPLES, "its own session is no other client"


def test_clients_of_botocore(url: str) -> None:
    botocore = pytest.importorskip("botocore.session")
    config = pytest.importorskip("botocore.config").Config(s3={"addressing_style": "path"})

    def client() -> Any:
        return botocore.Session().create_client(
            "s3", endpoint_url=url, region_name="us-east-1", config=config,
            aws_access_key_id="a", aws_secret_access_key="b",
        )  # fmt: skip

    def sample(index: int) -> None:
        body = client().get_object(Bucket="bucket", Key=str(index))["Body"]
        assert body.read() == BODY

    found = counted(sample, samples=2)
    assert found["clients"] == found["requests"] == found["connections"] == 2


def test_object_stores_of_obstore(url: str, tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore")
    stores = pytest.importorskip("obstore.store")
    local, memory = stores.LocalStore(str(tmp_path)), stores.MemoryStore()
    for store in (local, memory):
        store.put("a", BODY)
    options = {"client_options": {"allow_http": True}}
    kept = stores.HTTPStore(url, **options)

    async def both(index: int) -> None:
        first = obstore.get_range_async(kept, f"a/{index}", start=0, length=10)
        assert isinstance(first, asyncio.Future)
        await asyncio.gather(first, kept.get_range_async(f"b/{index}", start=0, length=10))

    def sample(index: int) -> None:
        for store in (local, memory):
            assert bytes(store.get("a").bytes()) == BODY
        with pytest.raises(FileNotFoundError):
            kept.get(f"404/{index}")
        asyncio.run(both(index))

    found = counted(sample)
    assert found["file_opens"] == SAMPLES and found["requests"] == 3 * SAMPLES
    assert found["clients"] == found["failed"] == 0
    assert found["received_bytes"] >= 2 * SAMPLES * 10

    def made(index: int) -> None:
        stores.HTTPStore(url, **options).get(f"a/{index}").bytes()

    assert counted(made)["clients"] == SAMPLES


# How it is counted


def test_it_stops_when_the_time_is_over() -> None:
    assert counted(lambda index: index, max_seconds=0.0)["samples"] == 1
    made: list[int] = []
    assert counted(made.append)["samples"] == SAMPLES
    assert made == list(range(SAMPLES + 1)), "the first is not counted"


def test_it_stops_when_nobody_waits() -> None:
    made: list[int] = []
    source = IndexedSource(Made(made.append), single=False)
    before = installed()
    found = count_storage(source, StorageWork([[0, 1, 2]], 2, FOREVER), 0, lambda: False)
    assert isinstance(found, Stale) and made == [0, 1]
    assert installed() == before


def test_what_is_watched_looks_as_before(files: list[str]) -> None:
    by_name = pickle.dumps(open)

    def sample(_index: int) -> None:
        assert inspect.isbuiltin(open) and builtins.open is io.open
        assert open.__name__ == "open" and open.__doc__
        assert pickle.loads(pickle.dumps(open)) is open
        assert pickle.loads(by_name) is open
        held = type("Held", (), {"opened": open})()
        held.opened(files[0]).close()
        assert issubclass(http.client.HTTPSConnection, http.client.HTTPConnection)
        assert inspect.isfunction(http.client.HTTPConnection.getresponse)
        with pytest.raises(TypeError, match="required argument 'file'"):
            vars(builtins)["open"]()

    assert counted(sample)["file_opens"] == SAMPLES


def test_what_is_kept_of_it_counts_nothing_and_works(files: list[str]) -> None:
    kept: list[Any] = []

    def sample(_index: int) -> None:
        kept.append(open)
        module = type(sys)("imported_meanwhile")
        exec("from io import open as taken", vars(module))
        sys.modules["imported_meanwhile"] = module

    try:
        counted(sample)
        assert vars(sys.modules["imported_meanwhile"])["taken"] is open
    finally:
        del sys.modules["imported_meanwhile"]
    assert kept[-1] is not open
    with kept[-1](files[0], "rb") as file:
        assert file.read() == BODY


@pytest.mark.parametrize("when", [1, 2])
def test_an_interrupt_leaves_nothing_behind(when: int, monkeypatch: Any) -> None:
    """While callables are replaced, and while they are put back."""
    looked: list[int] = []

    def interrupted(functions: Any) -> Any:
        looked.append(1)
        if len(looked) == when:
            raise KeyboardInterrupt
        return holders(functions)

    monkeypatch.setattr(watched, "holders", interrupted)
    before = installed()
    with pytest.raises(KeyboardInterrupt):
        counted(lambda index: index)
    assert installed() == before


def test_what_others_have_put_there_meanwhile_stays() -> None:
    original = http.client.HTTPConnection.getresponse

    def patched(self: Any) -> Any:
        return original(self)

    def sample(index: int) -> None:
        if index == 1:
            http.client.HTTPConnection.getresponse = patched  # type: ignore[method-assign]

    source = IndexedSource(Made(sample), single=False)
    try:
        count_storage(source, StorageWork([[0, 1, 2]], 2, FOREVER), 0, lambda: True)
        assert http.client.HTTPConnection.getresponse is patched
    finally:
        http.client.HTTPConnection.getresponse = original  # type: ignore[method-assign]


@pytest.mark.filterwarnings("ignore:.*fork")
def test_forked_processes_are_not_counted(files: list[str]) -> None:
    def sample(index: int) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                by_open(files[index])
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    assert counted(sample)["file_opens"] == 0


def test_one_worker_of_a_process_counts_at_a_time() -> None:
    inside, over = threading.Event(), threading.Event()

    def sample(index: int) -> None:
        if index == 1:
            inside.set()
            assert over.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(counted, sample)
        assert inside.wait(60)
        source = IndexedSource(Made(lambda index: index), single=False)
        other = count_storage(source, StorageWork([[0, 1, 2]], 2, FOREVER), 1, lambda: True)
        over.set()
        assert first.result()["samples"] == SAMPLES
    assert other == {"worker": 1, "samples": 0}


def test_times_in_flight() -> None:
    events = StorageEvents()
    for began, ended in [(1.0, 3.0), (2.0, 4.0), (4.0, 5.0), (7.0, None)]:
        events.sent(began, ()).ended = ended
    sums = events.sums(0.0, 9.0)
    assert sums["requests"] == 4 and sums["most_in_flight"] == 2
    assert sums["waiting_seconds"] == 6.0 and sums["request_seconds"] == 7.0
