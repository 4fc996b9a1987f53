"""What the table of libraries does with calls that do not fit, in a library made for it."""

from __future__ import annotations

import ctypes
import dataclasses
import sys
import types
from pathlib import Path
from typing import Any, Optional

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset, IterableDataset

from cachebisect._chain import libraries
from cachebisect._chain.libraries import Row, library_slots
from cachebisect._chain.sources import IterableSource
from cachebisect._worker.native_memory import allocated_bytes
from cachebisect._worker.probe import planned_slots, probe
from cachebisect._worker.recording import settled
from cachebisect._worker.tape import Copies, replay
from engine import TestEngine
from measured import measure, stage_names

MEGABYTE = 1 << 20
HELD = 8 * MEGABYTE


@dataclasses.dataclass
class Frames:
    """As torchcodec returns frames."""

    data: Any
    seconds: float


class Reader:
    """Opens a clip, in memory that Python does not see; the library closes it with the object."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.calls = 0
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
        self._free = libc.free
        self._memory: Optional[int] = libc.malloc(HELD)

    def __del__(self) -> None:
        self._free(self._memory)

    def frames(self) -> Frames:
        return Frames(torch.full((4,), float(self.index)), 0.5)

    def next_frame(self) -> Any:
        self.calls += 1
        return torch.full((4,), float(self.calls))

    @property
    def picture(self) -> Any:
        return torch.full((4,), float(self.index))


ROWS = (
    Row("clips", "Reader.frames", "decode"),
    Row("clips", "Reader.next_frame", "decode"),
    Row("clips", "Reader.picture", "decode"),
    Row("clips", "Reader.missing", "decode"),
    Row("collections", "deque.popleft", "read"),
    Row("no_such_library", "read", "read"),
)


@pytest.fixture(autouse=True)
def clips(monkeypatch: Any) -> Any:
    module = types.ModuleType("clips")
    module.Reader = Reader  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "clips", module)
    monkeypatch.setattr(libraries, "ROWS", ROWS)
    return module


class Clips(Dataset):  # type: ignore[type-arg]
    def __init__(self, use: Any, transform: Any = None) -> None:
        self.uses = [use]  # A list of callables that a dataset holds would be members.
        self.uses.append(None)
        self.transform = transform

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        x = self.uses[0](Reader(index))
        return (self.transform(x) if self.transform else x), index


def names_of(use: Any, tmp_path: Path) -> list[str]:
    return stage_names(DataLoader(Clips(use), batch_size=4), tmp_path)[1:-1]


def test_methods_and_properties_are_stages(tmp_path: Path) -> None:
    (tmp_path / "property").mkdir()
    assert names_of(lambda reader: reader.frames().data, tmp_path) == ["clips.Reader.frames"]
    picture = names_of(lambda reader: reader.picture, tmp_path / "property")
    assert picture == ["clips.Reader.picture"]
    assert isinstance(vars(Reader)["picture"], property)


def test_a_call_that_gives_the_next_of_something_is_no_stage(tmp_path: Path) -> None:
    assert names_of(lambda reader: reader.next_frame(), tmp_path) == []


def test_what_cannot_be_replaced_is_left_out() -> None:
    assert [slot.name for slot in library_slots(None)] == [
        "clips.Reader.frames",
        "clips.Reader.next_frame",
        "clips.Reader.picture",
    ]


def test_the_methods_of_the_dataset_itself_are_its_reading() -> None:
    assert library_slots(Reader(0)) == []


def test_a_stage_of_a_library_that_is_gone_is_left_out(clips: Any, monkeypatch: Any) -> None:
    monkeypatch.delitem(sys.modules, "clips")
    plan = ["clips.Reader.frames", "no_such_library.read"]
    assert planned_slots(Clips(None), plan) == []


class Buffered(IterableDataset):  # type: ignore[type-arg]
    """Its first sample imports the library; `ahead` frames wait in a buffer."""

    def __init__(self, library: Any, ahead: int) -> None:
        self.held = [library, None]
        self.ahead = ahead

    def __iter__(self) -> Any:
        sys.modules["clips"] = self.held[0]
        buffer = []
        for index in range(64):
            buffer.append(Reader(index).frames().data)
            if len(buffer) > self.ahead:
                yield buffer.pop(0)


@pytest.mark.parametrize("ahead,stages", [(0, ["clips.Reader.frames"]), (9, [])])
def test_a_buffer_behind_a_library_that_the_first_sample_imports(
    ahead: int, stages: list[str], clips: Any, monkeypatch: Any
) -> None:
    monkeypatch.delitem(sys.modules, "clips")
    dataset = Buffered(clips, ahead)
    source = IterableSource(dataset, 4)
    found = probe(dataset, source.makers(None), restart=source.restart)
    assert [stage["name"] for stage in found["stages"]] == stages
    assert bool(stages) is not ("clips.Reader.frames: part of `read`" in found["note"])


def test_a_stage_that_another_worker_has_found_is_imported(
    monkeypatch: Any, tmp_path: Path
) -> None:
    (tmp_path / "late_clips.py").write_text("def read(path):\n    return path\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(libraries, "ROWS", (*ROWS, Row("late_clips", "read", "read")))
    monkeypatch.delitem(sys.modules, "late_clips", raising=False)
    dataset = Clips(lambda reader: reader.frames().data, add)
    plan = ["clips.Reader.frames", "late_clips.read", "transform add"]
    assert planned_slots(dataset, plan[::2]) and "late_clips" not in sys.modules
    assert [slot.name for slot in planned_slots(dataset, plan)] == plan
    del sys.modules["late_clips"]


def add(x: Any) -> Any:
    return x.add_(100)


def test_later_stages_get_what_a_replay_has_read(monkeypatch: Any) -> None:
    """Behind a live read, the next stage takes the new frames: it may write into them."""
    dataset = Clips(lambda reader: reader.frames().data, add)
    names = [s["name"] for s in probe(dataset, [lambda: dataset[3]])["stages"]]
    assert names == ["clips.Reader.frames", "transform add"]
    slots = planned_slots(dataset, names)
    copies = Copies()
    tape = settled(slots, lambda: dataset[3], copies)
    tape.calls[0].function = lambda _reader: Frames(torch.full((4,), 7.0), 0.5)
    assert replay(tape, 0, copies)[0].tolist() == [107.0] * 4
    for _ in range(2):
        assert replay(tape, 1, copies)[0].tolist() == [103.0] * 4


def test_memory_that_open_files_hold_is_counted(tmp_path: Path) -> None:
    """The caches keep them open: how many samples fit is decided by it."""
    before = allocated_bytes()
    reader = Reader(0)
    if allocated_bytes() - before < HELD:
        pytest.skip("the C library does not tell what is allocated")
    del reader
    loader = DataLoader(Clips(lambda reader: reader.frames().data), batch_size=4)
    sizes: list[float] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        sizes.extend(engine.ask("sizes", samples=8)["item_bytes"])
        engine.finish()

    measure(loader, script, tmp_path)
    # The process has and frees other memory meanwhile.
    assert 0.99 * HELD <= sizes[1] < 2 * HELD
    assert sum(sizes[2:]) < MEGABYTE
