"""Functions inside `__getitem__`: marked as stages by hand, or found by a profile."""

from __future__ import annotations

import cProfile
import functools
import pickle
import time
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Subset

import cachebisect
import inside_data
from cachebisect._chain.functions import function_slot, name_of
from engine import TestEngine
from inside_data import Inline, Interrupted, Marked, Parsed, ParsedStream, Unzipped
from loaders import Compose, Member
from measured import every_arm, measure, stage_names

WORKERS = [
    (0, None),
    (2, "fork"),
    (1, "forkserver"),
    pytest.param(1, "spawn", marks=pytest.mark.nightly),
]


def loader_of(dataset: Any, workers: int = 0, method: Any = None) -> Any:
    return DataLoader(dataset, batch_size=4, num_workers=workers, multiprocessing_context=method)


@pytest.mark.parametrize("workers,method", WORKERS)
def test_marked_functions_are_stages(workers: int, method: Any, tmp_path: Any) -> None:
    loader = loader_of(Marked(), workers, method)
    (tmp_path / "arms").mkdir()
    names = stage_names(loader, tmp_path)
    assert names[:3] == ["read Marked.__getitem__", "tokenize", "pad"]
    for rows, _ in measure(loader, every_arm, tmp_path / "arms"):
        assert torch.equal(rows[:, 1], rows[:, 0] + 1) and not rows[:, 2:].any()


def test_a_marked_function_behaves_as_before() -> None:
    assert inside_data.tokenize("1 2") == [1, 2]
    assert inside_data.tokenize.__doc__ == "Numbers of the words."
    assert pickle.loads(pickle.dumps(inside_data.tokenize)) is inside_data.tokenize
    assert Marked().padded([1]) == [1, 0, 0, 0]


def generate() -> Any:
    yield 1


@pytest.mark.parametrize("wrong", [generate, Parsed, staticmethod(generate), 3])
def test_what_cannot_be_marked_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="stage 'load': "):
        cachebisect.stage("load")(wrong)


def test_a_mark_needs_a_name() -> None:
    with pytest.raises(TypeError, match="give a name"):
        cachebisect.stage(inside_data.parse)  # type: ignore[arg-type]


def stages_inside(
    loader: Any, tmp_path: Any, stage: str = "", then: Any = None
) -> tuple[list[str], list[str]]:
    """Names of the stages after a look inside, empty if it found nothing; its notes."""
    names: list[str] = []
    notes: list[str] = []

    def script(engine: TestEngine) -> None:
        read = engine.greet()["chain"]["stages"][0]["name"]
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        answer = engine.ask("inside", stage=stage or read, samples=40)
        assert answer["type"] == "inside", answer
        notes.extend(answer["notes"])
        if answer["chain"] is not None:
            names.extend(s["name"] for s in answer["chain"]["stages"])
            engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
            for boundary in range(len(names) + 1):
                engine.run(boundary=boundary)
            for bypassed in answer["arms"][1]["stages"]:
                engine.run("bypass", stage=bypassed)
        engine.finish()

    measure(loader, script, tmp_path)
    return names, notes


@pytest.mark.parametrize("workers,method", WORKERS)
def test_functions_that_each_sample_calls_become_stages(
    workers: int, method: Any, tmp_path: Any
) -> None:
    names, _ = stages_inside(loader_of(Parsed(), workers, method), tmp_path)
    assert names[:4] == [
        "read Parsed.__getitem__",
        "inside_data.parse",
        "inside_data.Parsed.checked",
        "inside_data.tidy",
    ]


def test_one_interrupted_sample_hides_no_function(tmp_path: Any) -> None:
    names, _ = stages_inside(loader_of(Interrupted()), tmp_path)
    assert "inside_data.parse" in names and "inside_data.tidy" in names


def test_functions_of_a_subset_and_of_a_stream(tmp_path: Any) -> None:
    (tmp_path / "stream").mkdir()
    subset = Subset(Parsed(), range(40))
    assert "inside_data.tidy" in stages_inside(loader_of(subset), tmp_path)[0]
    names, _ = stages_inside(loader_of(ParsedStream(), 2), tmp_path / "stream")
    assert names[:2] == ["read ParsedStream.__iter__", "inside_data.spend"]


def test_functions_in_c_and_stages_that_are_known(tmp_path: Any, monkeypatch: Any) -> None:
    # CPU time: a busy machine adds nothing to either function.
    by_cpu_time = functools.partial(cProfile.Profile, time.thread_time)
    monkeypatch.setattr("cProfile.Profile", by_cpu_time)
    names, _ = stages_inside(loader_of(Unzipped(Compose([Member()]))), tmp_path)
    expected = ["read Unzipped.__getitem__", "zlib.decompress", "zlib.compress"]
    assert names[:3] == expected
    assert "transforms[0] Member" in names[3:5]


def test_code_that_calls_nothing_stays_whole(tmp_path: Any) -> None:
    names, notes = stages_inside(loader_of(Inline()), tmp_path)
    assert names == [] and "no function" in notes[0]


def test_only_the_code_of_the_dataset_is_profiled(tmp_path: Any) -> None:
    names, notes = stages_inside(loader_of(Parsed()), tmp_path, "collate_fn default_collate")
    assert names == [] and "is not the dataset's own code" in notes[0]


def test_another_profiler_is_said(tmp_path: Any, monkeypatch: Any) -> None:
    class Busy:
        def enable(self) -> None:
            raise ValueError("Another profiling tool is already active")

    monkeypatch.setattr("cProfile.Profile", Busy)
    names, notes = stages_inside(loader_of(Parsed()), tmp_path)
    assert names == [] and "Another profiling tool" in notes[0]


def first(x: Any) -> Any:
    return x


def wrapped(function: Any) -> Any:
    return lambda x: function(x)


one, two = wrapped(first), wrapped(first)


def test_names_lead_back_to_their_functions() -> None:
    for function in (inside_data.parse, Parsed.checked, Parsed.__getitem__):
        name = name_of(function.__code__)
        slot = function_slot(name or "")
        assert slot is not None and slot.get() is function
    assert name_of(one.__code__) is None, "two functions have this code"
    assert function_slot("inside_data.nothing") is None
    assert function_slot("nothing.at.all") is None


def test_a_function_is_replaced_wherever_it_was_imported(monkeypatch: Any) -> None:
    original = first
    monkeypatch.setattr(inside_data, "imported", first, raising=False)
    name = f"{__name__}.first"
    slot = function_slot(name)
    assert slot is not None
    slot.put(len)
    assert first is len and inside_data.imported is len  # type: ignore[attr-defined]
    slot.put(original)
    assert first is original
