"""Part a, does it run: facts, GPU tests, pipelines, ugly inputs, compute-sanitizer."""

from __future__ import annotations

import os
import re
import shutil
from typing import NamedTuple, Optional

from .driver import Driver, DriverError
from .results import FAIL, OK
from .session import ROOT, Done, Session
from .ugly import check_ugly_inputs

TEST_RUNS = 3
_TEST_SECONDS = 60.0
_PIPELINE_SECONDS = 15.0
_SANITIZER_SECONDS = 60.0
_SANITIZED = {
    "memcheck": ("device_cuda_test", "replayer_test", "delay_test"),
    "racecheck": ("device_cuda_test",),
}
_PROGRAM = "tests/gpu_tests"
_COUNTS = re.compile(r"(\d+) passed \| +(\d+) failed \| +(\d+) skipped")


def run(session: Session) -> None:
    check_facts(session)
    check_tests(session)
    check_pipelines(session)
    check_ugly_inputs(session)
    check_sanitizer(session)


def check_facts(session: Session) -> None:
    try:
        gpu = Driver().gpu()
        text = f"{gpu.name}, {gpu.memory_bytes / 1e9:.0f} GB, {gpu.compute_capability}"
        session.results.add(OK, "driver", f"{text}, CUDA {gpu.cuda_version}", gpu=gpu._asdict())
    except DriverError as error:
        session.skip("driver", str(error))
    for command in (["nvidia-smi", "-q"], ["nvidia-smi", "topo", "-m"], ["nvcc", "--version"]):
        if shutil.which(command[0]):
            session.run(command, 30)
    tool = str(session.options.build / "bin/cachebisect")
    done = session.run([tool, "doctor", "--device", session.device, "--seconds", "5"], 60)
    last = [line for line in done.out.splitlines() if line.startswith("device")]
    right = done.code == 0 and bool(last)
    session.results.judge(right, "doctor", last[0] if right else done.reason())


class Counts(NamedTuple):
    passed: int
    failed: int
    skipped: int


def counts_of(text: str) -> Optional[Counts]:
    """Test cases, as doctest's summary says."""
    for line in text.splitlines():
        found = _COUNTS.search(line)
        if "test cases:" in line and found:
            return Counts(*(int(number) for number in found.groups()))
    return None


def check_tests(session: Session) -> None:
    program = session.program(_PROGRAM)
    if program is None:
        session.skip("tests", "no GPU tests are built: build all targets, with doctest")
        return
    for source in sorted((ROOT / "tests/gpu").glob("*_test.cpp")):
        _check_test(session, program, source.stem)


def _cases_of(test: str) -> str:
    """The option of the program that selects the cases of one file."""
    return f"--source-file=*/{test}.cpp"


def _check_test(session: Session, program: str, test: str) -> None:
    name = f"gpu/{test}"
    counts = Counts(0, 0, 0)
    for _ in range(TEST_RUNS):
        done = session.run([program, _cases_of(test)], _TEST_SECONDS)
        found = counts_of(done.out)
        if done.code != 0 or found is None:
            session.results.add(FAIL, name, _failure(done))
            return
        counts = found
    figure = f"{counts.passed} cases passed, {counts.skipped} skipped"
    if counts.passed == 0:
        session.skip(name, figure)
    else:
        session.results.add(OK, name, figure, f"{TEST_RUNS} runs", **counts._asdict())


def _failure(done: Done) -> str:
    counts = counts_of(done.out)
    if counts is None or counts.failed == 0:
        return done.reason()
    names = re.findall(r"^TEST CASE: +(.*)", done.out, re.MULTILINE)
    return f"{counts.failed} cases failed, such as '{names[0] if names else '?'}'"


def check_pipelines(session: Session) -> None:
    tool = str(session.options.build / "bin/cachebisect")
    for file in sorted((ROOT / "pipelines").glob("*.json")):
        name = f"pipeline {file.stem}"
        words = ["--device", session.device]
        checked = session.run([tool, "check", "--pipeline", str(file)], 60)
        if checked.code == 2:
            session.skip(name, f"not in this build: {checked.reason()}")
            continue
        done, report = session.bisect_file(file, session.seconds(_PIPELINE_SECONDS, 3), *words)
        if done.code != 0 or report is None:
            session.results.add(FAIL, name, done.reason())
            continue
        rate = report["live"]["samples_per_second"]
        live = f"{rate:,.0f} samples/s live" if rate else "no live figure"
        session.results.judge(
            report["device"]["kind"] == session.device, name,
            f"{report['verdict']['kind']}, {live}, on {report['device']['name']}",
            device=report["device"], verdict=report["verdict"]["text"],
            warnings=[warning["code"] for warning in report["warnings"]],
        )  # fmt: skip


def check_sanitizer(session: Session) -> None:
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(found, os.X_OK):
        session.skip("compute-sanitizer", "it is not installed")
        return
    if session.dry_run:
        session.skip("compute-sanitizer", "it needs a GPU")
        return
    program = session.program(_PROGRAM)
    for tool, tests in _SANITIZED.items():
        for test in tests:
            name = f"{tool} gpu/{test}"
            if program is None:
                session.skip(name, "not built")
                continue
            # Some cases make the device refuse memory on purpose.
            command = [found, "--tool", tool, "--error-exitcode", "9", "--target-processes"]
            command += ["application-only"]
            if tool == "memcheck":
                command += ["--report-api-errors", "no"]
            command += [program, _cases_of(test)]
            _judge_sanitized(session, name, session.run(command, _SANITIZER_SECONDS))


def _judge_sanitized(session: Session, name: str, done: Done) -> None:
    text = done.out + done.err
    if done.code is None:
        session.skip(name, done.reason())
    elif "Device not supported" in text:
        session.skip(name, "compute-sanitizer does not support this device")
    else:
        counts = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): .*", text)
        figure = counts[-1] if counts else done.reason()
        session.results.judge(done.code == 0 and bool(counts), name, figure)
