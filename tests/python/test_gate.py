"""Threads that wait at a gate do not keep a program from ending."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from cachebisect._chain.gate import Gate

PYTHON = Path(__file__).resolve().parents[2] / "python"

PROGRAM = """
from concurrent.futures import ThreadPoolExecutor
from cachebisect._chain.gate import Gate

gate, threads = Gate(is_open=False), ThreadPoolExecutor(2)
waiting = [threads.submit(gate.lets_in) for _ in range(3)]
raise SystemExit(5)
"""


def test_a_program_ends_while_threads_of_an_executor_wait() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={"PYTHONPATH": str(PYTHON)}, timeout=60
    )
    assert done.returncode == 5


def test_items_pass_while_it_is_open_and_none_once_it_has_ended() -> None:
    gate = Gate(is_open=False)
    passed: list[bool] = []
    thread = threading.Thread(target=lambda: passed.append(gate.lets_in()))
    thread.start()
    thread.join(0.05)
    assert passed == [] and thread.is_alive()
    gate.open()
    thread.join()
    assert passed == [True]
    gate.end()
    gate.close()
    assert gate.lets_in() is False
