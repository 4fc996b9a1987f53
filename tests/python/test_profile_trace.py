"""The trace of `cachebisect profile`, read by others: json, and the tools of PyTorch if they are
installed (docs/use/profile.md)."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(
    os.environ.get("CACHEBISECT_BINARY") or ROOT / "build" / "release" / "bin" / "cachebisect"
)
pytestmark = pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason="the command is not built")

ACTIVE = 4


@pytest.fixture(scope="module")
def trace_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of LibTorch's profiler where the command has LibTorch, else of an emulated step."""
    path = tmp_path_factory.mktemp("trace") / "mnist.pt.trace.json"
    words = [str(COMMAND), "profile", "--pipeline", "mnist.json", "--workers", "1"]
    words += ["--profiler", "pytorch", "--memory", "--shapes", "--trace", str(path)]
    words += ["--active", str(ACTIVE), "--no-progress"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(ROOT / "build" / "cache")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    if "needs the LibTorch module" in done.stderr:
        words += ["--device", "emulated"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def events(trace_file: Path) -> list[dict[str, Any]]:
    trace = json.loads(trace_file.read_text(encoding="utf-8"))
    assert isinstance(trace, dict)
    found: list[dict[str, Any]] = trace["traceEvents"]
    return found


def slices(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == "X"]


def test_every_slice_has_args_and_a_duration(events: list[dict[str, Any]]) -> None:
    for event in slices(events):
        assert isinstance(event["args"], dict)
        assert event["dur"] >= 0


def test_no_event_is_before_the_start(events: list[dict[str, Any]]) -> None:
    """Perfetto leaves such events out, and warns."""
    assert min(event["ts"] for event in events if "ts" in event) >= 0


def test_slices_of_a_track_nest(events: list[dict[str, Any]]) -> None:
    tracks: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for event in slices(events):
        begin = round(event["ts"] * 1000)
        tracks[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
    for track, stretches in tracks.items():
        open_ends: list[int] = []
        for begin, end in sorted(stretches, key=lambda stretch: (stretch[0], -stretch[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1], track
            open_ends.append(end)


def test_steps_waits_and_stages_are_there(events: list[dict[str, Any]]) -> None:
    names = [event["name"] for event in slices(events)]
    for step in range(ACTIVE):
        assert names.count(f"ProfilerStep#{step}") == 1
    waits = [e for e in slices(events) if e["name"] == "enumerate(DataLoader)#cachebisect.__next__"]
    assert len(waits) == ACTIVE
    assert {event["cat"] for event in waits} == {"cpu_op"}
    assert {"read", "decode", "to_float", "collate", "slot write"} <= set(names)


def test_operators_lie_within_their_part_of_the_step(events: list[dict[str, Any]]) -> None:
    """Both clocks are mapped to within a tenth of a millisecond."""
    operators = [e for e in slices(events) if e["name"] in ("aten::addmm", "aten::mm")]
    if not operators:
        pytest.skip("the command is built without LibTorch")
    steps = [e for e in slices(events) if e["name"] == "step"]
    for operator in operators:
        begin, end = operator["ts"], operator["ts"] + operator["dur"]
        assert any(s["ts"] - 100 <= begin and end <= s["ts"] + s["dur"] + 100 for s in steps), (
            operator
        )


def test_holistic_trace_analysis_reads_it(trace_file: Path) -> None:
    pytest.importorskip("hta", reason="pip install HolisticTraceAnalysis")
    hta = pytest.importorskip("hta.common.trace")
    trace = hta.Trace(trace_files={0: str(trace_file)}, trace_dir=str(trace_file.parent))
    trace.parse_traces(use_multiprocessing=False)
    names = trace.symbol_table.get_sym_table()
    assert "enumerate(DataLoader)#cachebisect.__next__" in names
    assert sorted(trace.get_iterations()) == list(range(ACTIVE))


def test_the_tensorboard_plugin_reads_it(trace_file: Path, tmp_path: Path) -> None:
    """It finds the steps, and counts the waits as DataLoader."""
    pytest.importorskip("torch_tb_profiler", reason="pip install torch-tb-profiler")
    data = pytest.importorskip("torch_tb_profiler.profiler.data")
    roles = pytest.importorskip("torch_tb_profiler.profiler.event_parser").ProfileRole
    run = data.RunProfileData.parse("worker0", 0, str(trace_file), str(tmp_path))
    run.process()
    assert run.steps_names == [str(step) for step in range(ACTIVE)]
    waits = [step.costs[roles.DataLoader] for step in run.steps_costs]
    events = json.loads(trace_file.read_text(encoding="utf-8"))["traceEvents"]
    ours = sum(event["dur"] for event in events if "__next__" in event["name"])
    assert sum(waits) == pytest.approx(ours, rel=0.01, abs=5)


def test_the_tensorboard_plugin_shows_the_blocks_in_the_folder_of_out(tmp_path: Path) -> None:
    """As a worker of its own, with the view of the trace."""
    pytest.importorskip("torch_tb_profiler", reason="pip install torch-tb-profiler")
    data = pytest.importorskip("torch_tb_profiler.profiler.data")
    consts = pytest.importorskip("torch_tb_profiler.consts")
    generator = pytest.importorskip("torch_tb_profiler.profiler.run_generator").RunGenerator
    words = [str(COMMAND), "--pipeline", "starved.json", "--budget", "2", "--no-explain"]
    words += ["--quiet", "--out", str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    matches = [consts.WORKER_PATTERN.match(path.name) for path in tmp_path.iterdir()]
    assert [match.group(1) for match in matches if match] == ["cachebisect"]
    trace = tmp_path / "cachebisect.pt.trace.json"
    run = data.RunProfileData.parse("cachebisect", 0, str(trace), str(tmp_path))
    run.process()
    profile = generator("cachebisect", 0, run).generate_run_profile()
    assert "Trace" in [view.display_name for view in profile.views]
