"""The hook that every Python process of `cachebisect run` loads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from cachebisect._script import child_processes
from hooked import HOOK


def test_without_a_socket_the_hook_does_nothing(tmp_path: Any) -> None:
    text = "import sys; print([m for m in sys.modules if m.startswith('cachebisect')])"
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment.pop("CACHEBISECT_SOCKET", None)
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n" and done.stderr == ""


def test_the_hidden_sitecustomize_still_runs(tmp_path: Any) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hidden')")
    environment = {**os.environ, "PYTHONPATH": f"{HOOK}{os.pathsep}{tmp_path}"}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "none")
    done = subprocess.run(
        [sys.executable, "-c", "print('end')"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "hidden\nend\n"


@pytest.mark.parametrize(
    "line,child",
    [
        (["python", "train.py"], False),
        (["python", "-c", "from multiprocessing.spawn import spawn_main; ..."], True),
        (["python", "-c", "from multiprocessing.forkserver import main; ..."], True),
        (["python", "-m", "torch.distributed.run", "train.py"], False),
    ],
)
def test_children_of_multiprocessing_are_told_apart(line: list[str], child: bool) -> None:
    assert child_processes.is_multiprocessing_child(line) is child


CHILD = """
import multiprocessing
import sys

def modules(queue):
    ours = [name for name in sys.modules if name.startswith("cachebisect")]
    queue.put(ours)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    child = context.Process(target=modules, args=(queue,))
    child.start()
    print(queue.get())
    child.join()
"""


def test_a_spawned_child_loads_one_small_module(tmp_path: Any) -> None:
    (tmp_path / "start.py").write_text(CHILD)
    environment = {**os.environ, "PYTHONPATH": str(HOOK)}
    environment["CACHEBISECT_SOCKET"] = str(tmp_path / "none")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "start.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "['cachebisect._script.child_processes']\n", done.stderr


def test_the_installed_package_starts_where_pythonpath_is_not_heeded(tmp_path: Any) -> None:
    package = HOOK.parent
    (tmp_path / "cachebisect").symlink_to(package)
    (tmp_path / "cachebisect.pth").write_text((package.parent / "cachebisect.pth").read_text())
    text = (
        f"import site, sys; site.addsitedir({str(tmp_path)!r});"
        "print('cachebisect._script.startup' in sys.modules)"
    )
    for socket, started in ((str(tmp_path / "none"), "True\n"), ("", "False\n")):
        done = subprocess.run(
            [sys.executable, "-I", "-c", text],
            env={**os.environ, "CACHEBISECT_SOCKET": socket},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.stdout, done.stderr) == (started, "")
