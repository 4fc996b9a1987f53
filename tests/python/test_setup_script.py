"""What scripts/setup makes of drivers and toolkits, and CMake of toolkits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Machine:
    """A folder of programs ahead of PATH, and a folder in the place of the system's."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.system = folder / "system"
        self.programs.mkdir()
        self.system.mkdir()

    def program(self, name: str, text: str, place: Path | None = None) -> Path:
        path = (place or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def driver(self, version: str) -> None:
        self.program("nvidia-smi", f"echo {version}")

    def file(self, path: str, text: str = "") -> None:
        target = self.system / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ)
        environment["PATH"] = f"{self.programs}:/usr/bin:/bin"
        environment["CACHEBISECT_SYSTEM_ROOT"] = str(self.system)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def shell(self, script: str) -> str:
        """What the functions of common.sh print."""
        done = self.run("bash", "-c", f'source "{ROOT}/scripts/common.sh"; {script}')
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_driver_version_by_nvidia_smi(machine: Machine) -> None:
    machine.driver("570.86.15")
    machine.file(
        "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06"
    )
    assert machine.shell("driver_version") == "570.86.15"


@pytest.mark.parametrize(
    "broken", ["echo 'NVIDIA-SMI has failed'; exit 9", "exit 127", "echo '[N/A]'"]
)
def test_driver_version_without_a_working_nvidia_smi(machine: Machine, broken: str) -> None:
    machine.program("nvidia-smi", broken)
    assert machine.shell("driver_version") == ""
    machine.file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
        "GCC version:  gcc version 12.2.0\n",
    )
    assert machine.shell("driver_version") == "580.65.06"


def test_wsl_is_a_machine_with_a_gpu(machine: Machine) -> None:
    gpu = "if has_gpu; then echo yes; else echo no; fi"
    assert machine.shell(gpu) == "no\n"
    machine.file("dev/dxg")
    assert machine.shell(gpu) == "no\n"  # WSL2 without an NVIDIA driver
    machine.file("usr/lib/wsl/lib/libcuda.so.1")
    assert machine.shell(gpu) == "yes\n"
    machine.program("nvidia-smi", "echo 576.02", machine.system / "usr/lib/wsl/lib")
    assert machine.shell("driver_version") == "576.02"


@pytest.mark.parametrize(
    ("driver", "build"),
    [
        ("", "pypi"),
        ("580.65.06", "pypi"),
        ("590.1", "pypi"),
        ("579.99", "cu128"),
        ("570.86.15", "cu128"),
        ("560.35.03", "cu126"),
        ("525.60.13", "cu126"),
        ("524.9", ""),
        ("470.256.02", ""),
    ],
)
def test_the_torch_that_fits_the_driver(machine: Machine, driver: str, build: str) -> None:
    assert machine.shell(f'torch_build_for "{driver}"') == build


def test_setup_refuses_cuda_for_a_driver_that_nothing_fits(machine: Machine) -> None:
    machine.driver("470.256.02")
    done = machine.run(str(ROOT / "scripts/setup"), "--cuda")
    assert done.returncode == 1
    assert "driver is 470.256.02" in done.stderr
    assert "525 or newer" in done.stderr
    assert "installing" not in done.stderr


def test_setup_refuses_a_toolkit_that_the_driver_cannot_run(machine: Machine) -> None:
    machine.driver("560.35.03")
    machine.program("nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
    done = machine.run(str(ROOT / "scripts/setup"), "--cuda")
    assert done.returncode == 1
    assert "CUDA 12" in done.stderr
    assert ", 13.0: update the driver" in done.stderr
    assert "installing" not in done.stderr


def cmake(folder: Path, script: str) -> str:
    program = shutil.which("cmake")
    if program is None:
        pytest.skip("no cmake on PATH")
    file = folder / "script.cmake"
    file.write_text(script)
    done = subprocess.run([program, "-P", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.strip()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("11.5.119", "75-real;80"),
        ("11.8", "75-real;80-real;90"),
        ("12.6.3", "75-real;80-real;90"),
        ("12.8.0", "75-real;80-real;90-real;100-real;120"),
        ("13.0.88", "75-real;80-real;90-real;100-real;120"),
    ],
)
def test_architectures_by_toolkit(tmp_path: Path, version: str, expected: str) -> None:
    found = cmake(
        tmp_path,
        f"include({ROOT}/cmake/CudaArchitectures.cmake)\n"
        f'cachebisect_cuda_architectures({version} found)\nmessage("${{found}}")\n',
    )
    assert found == expected


@pytest.mark.parametrize(
    ("driver", "problem"), [("470.256.02", "525 or newer"), ("560.35.03", "580 or newer"), ("", "")]
)
def test_a_gpu_whose_driver_does_not_fit_is_said_and_left(
    machine: Machine, driver: str, problem: str
) -> None:
    machine.file("dev/nvidiactl")
    if driver:
        machine.driver(driver)
    machine.program("nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
    script = f'source "{ROOT}/scripts/common.sh"; read_options; echo "$want_cuda"'
    done = machine.run("bash", "-c", script)
    assert done.stdout == ("no\n" if driver else "yes\n")
    assert problem in done.stderr
    assert ("for the CPU alone" in done.stderr) == bool(driver)


def test_a_toolkit_of_cuda_12_fits_a_driver_for_it(machine: Machine) -> None:
    machine.program("nvcc", "echo 'Cuda compilation tools, release 12.8, V12.8.93'")
    assert machine.shell("cuda_problem 560.35.03") == ""


def compiles(machine: Machine, tmp_path: Path, nvcc: Path) -> list[str]:
    return cmake(
        tmp_path,
        f"set(CMAKE_BINARY_DIR {tmp_path})\n"
        f"include({ROOT}/cmake/CudaCompiles.cmake)\n"
        f'cachebisect_cuda_compiles("{nvcc}" g++ works said)\nmessage("${{works}}|${{said}}")\n',
    ).split("|")


def test_a_toolkit_that_does_not_compile_is_not_taken(machine: Machine, tmp_path: Path) -> None:
    complaint = "std_function.h:435: error: parameter packs not expanded"
    broken = machine.program("nvcc", f"echo note; echo '{complaint}' >&2; exit 2")
    assert compiles(machine, tmp_path, broken) == ["OFF", complaint]
    working = machine.program("nvcc-14", 'test "$2 $3" = "-ccbin g++"')
    assert compiles(machine, tmp_path, working)[0] == "ON"
