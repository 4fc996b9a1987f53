"""What the parts of scripts/gpu-check make of what they measure."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_check import part_number, part_right, part_runs, part_scripts, part_speed, ugly
from gpu_check.session import ROOT, Bisected, Done, Options, Session
from gpu_session import options_in, outcomes, records, write_program


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_in(tmp_path)


def test_gpu_tests_are_counted(options: Options) -> None:
    program = """
import sys
counts, code = {"delay_test": ((6, 0, 1), 0), "errors_test": ((6, 1, 0), 1)}.get(
    sys.argv[1].removeprefix("--source-file=*/").removesuffix(".cpp"), ((0, 0, 7), 0))
print("TEST CASE:  a case")
print("[doctest] test cases:  7 |  {} passed | {} failed | {} skipped".format(*counts))
sys.exit(code)"""
    write_program(options.build / "tests/gpu_tests", program)
    session = Session("t", options)
    part_runs.check_tests(session)
    found = outcomes(session)
    assert set(found) == {f"gpu/{path.stem}" for path in ROOT.glob("tests/gpu/*_test.cpp")}
    assert {name: outcome for name, outcome in found.items() if outcome != "skip"} == {
        "gpu/delay_test": "ok", "gpu/errors_test": "FAIL",
    }  # fmt: skip
    assert "1 cases failed, such as 'a case'" in [
        record.get("figure") for record in records(session)
    ]


def test_ugly_inputs_must_end_as_expected() -> None:
    case = ugly.Ugly("labels", {}, 3, "classes", report=False)
    right = Done(3, "", "label 7, classes is 2")
    assert ugly._problem(case, right, None) == ""
    assert "expected exit 3" in ugly._problem(case, Done(0, "", ""), None)
    assert "does not say" in ugly._problem(case, Done(3, "", "no"), None)
    assert "terminate" in ugly._problem(
        case, Done(3, "", "classes\nterminate called after throwing"), None
    )
    assert ugly._problem(ugly.Ugly("x", {}), Done(0, "", ""), None) == "there is no report"


def selftest_with(*verdicts: str) -> str:
    chains = [{"outcome": verdict} for verdict in verdicts]
    return f"print({json.dumps({'chains': chains})!r})"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (selftest_with("right", "inconclusive"), "ok"),
        (selftest_with("right", "wrong") + "\nexit(5)", "FAIL"),
        ("import sys\nsys.exit('unexpected argument: --device')", "skip"),
        ("import sys\nsys.exit('no memory')", "FAIL"),
    ],
)
def test_planted_chains_are_those_of_selftest(options: Options, text: str, outcome: str) -> None:
    write_program(options.build / "bin/cachebisect", text)
    session = Session("t", options)
    part_right.check_planted(session)
    assert outcomes(session) == {"planted chains": outcome}


def test_few_right_verdicts_fail_where_a_gpu_is(options: Options) -> None:
    write_program(options.build / "bin/cachebisect", selftest_with(*7 * ["right"], "inconclusive"))
    session = Session("t", options._replace(dry_run=False))
    part_right.check_planted(session)
    assert outcomes(session) == {"planted chains": "FAIL"}


def bisected(report: Any) -> Any:
    return lambda *_words, **_how: Bisected(Done(0, "", ""), report)


@pytest.mark.parametrize(("rate", "outcome"), [(10.9, "ok"), (10.7, "FAIL"), (None, "FAIL")])
def test_copies_are_held_against_the_raw_rate(
    options: Options, monkeypatch: pytest.MonkeyPatch, rate: Any, outcome: str
) -> None:
    report = {
        "ceiling": {"samples_per_second": 3200.0}, "device": {"copy_gb_per_s": 12.0},
        "stages": [{"category": "copy", "copy_gb_per_s": rate}],
    }  # fmt: skip
    monkeypatch.setattr(Session, "bisect", bisected(report))
    session = Session("t", options)
    part_right.check_copy(session)
    assert outcomes(session) == {
        "a planted step": "ok", "copy of the run's own probe": "ok", "copy, live": outcome,
    }  # fmt: skip


def block(arm: str, boundary: int, clock: float, **other: Any) -> Any:
    plain = {"void": False, "round": 0, "overrides": {}, "device": {"sm_clock_mhz": clock}}
    return {"arm": arm, "boundary": boundary, **plain, **other}


@pytest.mark.parametrize(
    ("clock", "warnings", "outcome"),
    [(1980, [], "ok"), (1900, [], "FAIL"), (1900, ["device_clock_of_arms"], "ok")],
)
def test_clocks_of_arms_are_close_or_warned_of(
    options: Options, monkeypatch: pytest.MonkeyPatch, clock: float, warnings: Any, outcome: str
) -> None:
    blocks = [
        block("live", 0, 1980), block("replay", 2, clock), block("replay", 1, 300),
        block("live", 0, 300, void=True), block("replay", 2, 300, round=-1),
        block("live", 0, 300, device=None),
    ]  # fmt: skip
    report = {
        "stages": [{}, {}], "blocks": blocks,
        "warnings": [{"code": code} for code in warnings],
    }  # fmt: skip
    monkeypatch.setattr(Session, "bisect_file", bisected(report))
    session = Session("t", options)
    part_right.check_clocks(session)
    assert outcomes(session) == {"clocks by arm": outcome}


@pytest.mark.parametrize(("ours", "outcome"), [(1010.0, "ok"), (1030.0, "FAIL"), (None, "FAIL")])
def test_the_step_is_held_against_the_loop_in_python(
    options: Options, monkeypatch: pytest.MonkeyPatch, ours: Any, outcome: str
) -> None:
    loop = {"samples_per_second": 1000.0, "device_idle_share": 0.0}
    monkeypatch.setattr(part_number, "_python_loop", lambda *_: (loop, ""))
    monkeypatch.setattr(part_number, "_our_rate", lambda *_: (ours, "" if ours else "no ceiling"))
    session = Session("t", options._replace(dry_run=False))
    part_number._compare(session, part_number.Case("lenet", 128), "python")
    assert outcomes(session) == {"lenet NCHW": outcome}


def test_slow_kernels_and_launches_fail(options: Options) -> None:
    rows = [
        {"kernel": "copy", "microseconds": 10, "gb_per_s": 4000},
        {"kernel": "slow", "microseconds": 90, "gb_per_s": 1000},
        {"record_us": 1, "launch_us": 20, "kernel_us": 3},
    ]
    text = "\n".join(f"print({json.dumps(row)!r})" for row in rows)
    write_program(options.build / "bin/gpu_figures", text)
    session = Session("t", options._replace(dry_run=False))
    part_speed.run(session)
    assert outcomes(session) == {
        "kernel copy": "ok", "kernel slow": "FAIL", "recording an event": "ok",
        "queueing a kernel": "FAIL", "a small kernel, end to end": "ok",
    }  # fmt: skip


def test_what_is_not_built_is_skipped(options: Options) -> None:
    session = Session("t", options)
    part_speed.run(session)
    part_right.check_inline(session)
    part_runs.check_tests(session)
    assert set(outcomes(session).values()) == {"skip"}


def test_models_of_the_loop_are_those_of_torchvision() -> None:
    pytest.importorskip("torch")
    models = pytest.importorskip("torchvision").models
    sys.path.insert(0, str(ROOT / "bench/python"))
    from step_models import model_named

    for name in ("resnet18", "resnet50"):
        shapes = [tuple(p.shape) for p in getattr(models, name)().parameters()]
        assert sorted(tuple(p.shape) for p in model_named(name, 1000).parameters()) == sorted(
            shapes
        )


def test_scripts_are_judged_by_verdict_stage_and_text(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = {
        "verdict": {"kind": "drop", "stage": "decode Decode", "text": "decode costs 84%"},
        "timing": {"wall_seconds": 9}, "warnings": [],
    }  # fmt: skip
    done = Bisected(Done(0, "Model.preprocess, train.py:8", ""), report)
    monkeypatch.setattr(Session, "bisect_command", lambda *_, **__: done)
    session = Session("t", options._replace(dry_run=False))
    for case in (
        part_scripts.Case("right", (), "drop", "decode", "preprocess"),
        part_scripts.Case("kind", (), "flat"),
        part_scripts.Case("stage", (), "drop", "collate_fn"),
        part_scripts.Case("text", (), "drop", "decode", "nothing of this"),
    ):
        part_scripts.check_case(session, case, sys.executable)
    assert outcomes(session) == {"right": "ok", "kind": "FAIL", "stage": "FAIL", "text": "FAIL"}


def test_steps_that_python_limits_may_be_faster_here(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session("t", options._replace(dry_run=False))
    for name, idle, ours in (("host", 0.9, 150), ("device", 0.0, 150), ("slow", 0.9, 90)):
        loop = {"samples_per_second": 100.0, "device_idle_share": idle}
        monkeypatch.setattr(part_number, "_python_loop", lambda *_, loop=loop: (loop, ""))
        monkeypatch.setattr(part_number, "_our_rate", lambda *_, rate=ours: (rate, ""))
        part_number._compare(session, part_number.Case(name, 64), sys.executable)
    assert outcomes(session) == {"host NCHW": "ok", "device NCHW": "FAIL", "slow NCHW": "FAIL"}
