"""scripts/gpu-check without a GPU: its driver, commands, verdicts and exit codes."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from gpu_check import __main__ as program
from gpu_check import driver
from gpu_check.results import Results, exit_code
from gpu_check.session import Options, Session
from gpu_session import options_in, write_program


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_in(tmp_path)


class FakeCuda:
    """A driver with one GPU, whose copies take `milliseconds` each."""

    def __init__(self, gpus: int = 1, milliseconds: float = 8.0, fails: str = "") -> None:
        self.gpus, self.milliseconds, self.fails = gpus, milliseconds, fails
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.append(name)
            if name == self.fails:
                return 999
            first = arguments[0]
            if name == "cuDeviceGetName":
                first.value = b"Test GPU"
            elif hasattr(first, "_obj"):
                values = {
                    "cuDeviceGetCount": self.gpus, "cuDeviceTotalMem_v2": 150_000_000_000,
                    "cuDriverGetVersion": 13000, "cuEventElapsedTime": self.milliseconds,
                }  # fmt: skip
                if name == "cuDeviceGetAttribute":
                    first._obj.value = {75: 9, 76: 0}[arguments[1]]
                else:
                    first._obj.value = values.get(name, 1)
            return 0

        return call


def test_driver_tells_what_it_finds() -> None:
    gpu = driver.Driver(FakeCuda()).gpu()
    assert gpu == driver.Gpu("Test GPU", 150_000_000_000, "9.0", 1, "13.0")


def test_pinned_copy_is_bytes_over_the_events_time() -> None:
    cuda = FakeCuda(milliseconds=8.0)
    assert driver.Driver(cuda).pinned_copy_gb_per_s(megabytes=400, passes=3) == pytest.approx(50)
    assert cuda.calls.count("cuMemcpyHtoDAsync_v2") == 3
    assert cuda.calls[-1] == "cuDevicePrimaryCtxRelease_v2"


def test_driver_errors_say_which_call_failed() -> None:
    with pytest.raises(driver.DriverError, match="no GPU"):
        driver.Driver(FakeCuda(gpus=0))
    with pytest.raises(driver.DriverError, match="cuInit failed with CUDA error 999"):
        driver.Driver(FakeCuda(fails="cuInit"))
    cuda = FakeCuda(fails="cuMemHostAlloc")
    with pytest.raises(driver.DriverError, match="cuMemHostAlloc"):
        driver.Driver(cuda).pinned_copy_gb_per_s()
    assert cuda.calls[-1] == "cuDevicePrimaryCtxRelease_v2"


def test_without_a_gpu_or_a_build_the_command_says_so(
    options: Options, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_driver() -> Any:
        raise driver.DriverError("there is no NVIDIA driver")

    monkeypatch.setattr(driver, "_load", no_driver)
    words = ["--build", str(options.build), "--out", str(options.out)]
    assert program.main(words) == program.NO_BUILD
    assert "there is no " in capsys.readouterr().out
    write_program(options.build / "bin/cachebisect", "")
    assert program.main(words) == program.NO_GPU
    assert "skip everything: there is no NVIDIA driver" in capsys.readouterr().out


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(SystemExit):
        program.main(["--parts", "a,x"])


def test_exit_codes() -> None:
    assert exit_code(["ok", "skip"]) == 0
    assert exit_code(["ok", "FAIL"]) == 1
    assert exit_code(["skip"]) == 2


def test_results_are_lines_for_people_and_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results("b", tmp_path / "b.jsonl")
    results.judge(False, "copy", "10 GB/s", "at least 90%", gb_per_s=10)
    assert capsys.readouterr().out == "FAIL b: copy: 10 GB/s (at least 90%)\n"
    record = json.loads((tmp_path / "b.jsonl").read_text())
    assert (record["check"], record["outcome"], record["gb_per_s"]) == ("copy", "FAIL", 10)
    assert results.failed == ["copy"]


def test_commands_end_with_their_children_when_time_is_up(options: Options, tmp_path: Path) -> None:
    session = Session("t", options)
    alive = tmp_path / "alive"
    endless = f"(while :; do touch {alive}; sleep 0.1; done) & sleep 1000000"
    done = session.run(["sh", "-c", endless], 1)
    assert done.code is None and "took more than 1 s" in done.reason()
    alive.unlink(missing_ok=True)
    time.sleep(3)
    assert not alive.exists()


def test_commands_that_cannot_run(options: Options) -> None:
    assert "/nowhere: No such file" in Session("t", options).run(["/nowhere"], 5).reason()
    late = Session("t", options, seconds=0.5)
    assert late.run(["true"], 5).reason() == "the part has no time left"


def test_ctrl_c_is_sent_to_a_command(options: Options) -> None:
    shell = ["sh", "-c", "trap 'exit 130' INT; sleep 60 & wait"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # As in a shell's background job.
    try:
        done = Session("t", options).run(shell, 30, interrupt_after=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 130
