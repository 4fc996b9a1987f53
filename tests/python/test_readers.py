"""Each row of the table of libraries, with the real library and a file that it has made.

`scripts/test-python --frameworks` installs them; docs/use/python.md has the table.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torch.utils.data import DataLoader

from cachebisect._chain.libraries import ROWS, library_slots
from cachebisect._chain.stand_ins import Installed
from engine import TestEngine
from measured import every_arm, measure, stage_names
from readers import CASES, COUNT, Files, ImportedByName

NAMES = [row.stage for row in ROWS]
ALONE = "decord"
"""Its C library takes the place of zlib for all others in a process."""


def need(stage: str) -> None:
    module = CASES[stage].needs
    try:
        if module != ALONE:
            importlib.import_module(module)
        elif importlib.util.find_spec(module) is None:
            raise ImportError("no module named " + module)
    except (ImportError, RuntimeError) as error:  # torchcodec without FFmpeg: a RuntimeError.
        pytest.skip(f"{module}: {str(error).strip().splitlines()[0]}")


def files(stage: str, tmp_path: Path) -> Files:
    path = str(tmp_path / "data")
    CASES[stage].make(path)
    return Files(stage, path)


def test_each_row_has_a_case() -> None:
    assert sorted(NAMES) == sorted(CASES)


@pytest.mark.parametrize("stage", NAMES)
def test_a_row_is_a_stage_and_what_it_gave_is_replayed(stage: str, tmp_path: Path) -> None:
    need(stage)
    if CASES[stage].needs != ALONE:
        check_row(stage, tmp_path)
        return
    child = multiprocessing.get_context("spawn").Process(target=check_row, args=(stage, tmp_path))
    child.start()
    child.join()
    assert child.exitcode == 0


def check_row(stage: str, tmp_path: Path) -> None:
    """Live and replayed samples are those of the dataset; a bypassed stage gives another's."""
    dataset = files(stage, tmp_path)
    expected = [dataset[index][0] for index in range(COUNT)]
    loader = DataLoader(dataset, batch_size=4, shuffle=True)
    found: dict[str, Any] = {}
    batches: list[Any] = []

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        found.update({each["name"]: each for each in described["chain"]["stages"]})
        engine.ask("sizes", samples=4)
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for _ in range(2):
            for boundary in range(len(found) + 1):
                assert engine.run(boundary=boundary)["steps"] == 4
        bypassed = [arm for arm in described["arms"] if arm["kind"] == "bypass"]
        batches.append("bypass")
        for number in bypassed[0]["stages"]:
            engine.run("bypass", stage=number)
        engine.finish()

    measure(loader, script, tmp_path, batches.append)
    assert stage in found, list(found)
    row = ROWS[NAMES.index(stage)]
    assert found[stage]["type"].startswith(f"{row.category}.")
    assert not found[stage]["random"] and found[stage]["cacheable"]
    first = batches.index("bypass")
    assert first > 0 and len(batches) > first + 1
    for samples, indices in batches[:first]:
        for sample, index in zip(samples, indices):
            assert torch.equal(sample, expected[index])
    known = [frame for each in expected for frame in frames(each)]
    for samples, _ in batches[first + 1 :]:  # Another sample, or its frame, may have answered.
        for frame in (frame for sample in samples for frame in frames(sample)):
            assert any(torch.equal(frame, each) for each in known)


def frames(sample: Any) -> Any:
    return sample if sample.ndim == 4 else [sample]


@pytest.mark.parametrize("stage", ["h5py.Dataset.__getitem__", "soundfile.read", "librosa.load"])
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_library_that_the_first_sample_imports(stage: str, method: str, tmp_path: Path) -> None:
    need(stage)
    loader = DataLoader(
        files(stage, tmp_path), batch_size=4, num_workers=2, multiprocessing_context=method
    )
    (tmp_path / "arms").mkdir()
    names = stage_names(loader, tmp_path)
    assert names[:2] == ["read Files.__getitem__", stage]
    assert measure(loader, every_arm, tmp_path / "arms")


def test_a_function_that_a_module_has_imported_by_its_name(tmp_path: Path) -> None:
    need("numpy.load")
    CASES["numpy.load"].make(str(tmp_path / "data"))
    loader = DataLoader(ImportedByName("numpy.load", str(tmp_path / "data")), batch_size=4)
    assert stage_names(loader, tmp_path)[1] == "numpy.load"


def test_a_file_that_is_open_for_one_call_alone_belongs_to_the_dataset(tmp_path: Path) -> None:
    need("tifffile.TiffFile.asarray")
    import tifffile

    path = str(tmp_path / "data")
    CASES["tifffile.TiffFile.asarray"].make(path)

    class Reopened(Files):
        def __getitem__(self, index: int) -> Any:
            with tifffile.TiffFile(self.path) as file:
                return torch.from_numpy(file.asarray(key=index)), index

    loader = DataLoader(Reopened("", path), batch_size=4)
    assert stage_names(loader, tmp_path) == [
        "read Reopened.__getitem__",
        "collate_fn default_collate",
    ]


def test_every_row_is_put_back_as_it_was() -> None:
    for case in CASES.values():
        if case.needs != ALONE and importlib.util.find_spec(case.needs.partition(".")[0]):
            try:
                importlib.import_module(case.needs)
            except RuntimeError:
                continue
    before = held()
    slots = library_slots(None)
    with Installed(slots, lambda _stage, original: original):
        during = held()
    assert before == held()
    changed = sum(before[stage] != during[stage] for stage in before)
    assert changed == len(slots) >= 2  # numpy and torch are there.


def held() -> dict[str, int]:
    """What each imported row's place holds, by its id."""
    import sys

    found: dict[str, int] = {}
    for row in ROWS:
        owner: Any = sys.modules.get(row.module)
        *parts, last = row.callable.split(".")
        for part in parts:
            owner = getattr(owner, part, None)
        if last in getattr(owner, "__dict__", {}):
            found[row.stage] = id(vars(owner)[last])
    return found
