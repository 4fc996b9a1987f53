"""Waits that a message interrupts. Needs no torch."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import threading
import time
from typing import Any

import pytest

from cachebisect._engine.adapter import Adapter
from cachebisect._engine.messages import Connection, ConnectionLost, Interrupted

STOP = b'{"id": 9, "type": "stop"}\n'
LONG = 600.0


@pytest.fixture
def ends() -> Any:
    engine, adapter = socket.socketpair()
    connection = Connection(adapter)
    yield engine, connection
    connection.close()
    engine.close()
    assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL


def later(act: Any) -> None:
    threading.Timer(0.2, act).start()


def test_stop_interrupts_a_wait(ends: Any) -> None:
    engine, connection = ends
    later(lambda: engine.sendall(STOP))
    with pytest.raises(Interrupted), connection.interruptible():
        time.sleep(LONG)


def test_end_of_the_engine_interrupts_a_wait(ends: Any) -> None:
    engine, connection = ends
    later(lambda: engine.shutdown(socket.SHUT_RDWR))
    with pytest.raises(ConnectionLost), connection.interruptible():
        time.sleep(LONG)


def test_code_that_catches_every_exception_is_interrupted(ends: Any) -> None:
    engine, connection = ends
    later(lambda: engine.sendall(STOP))
    with pytest.raises(Interrupted), connection.interruptible():
        try:
            time.sleep(LONG)
        except Exception:
            time.sleep(LONG)


def test_stop_that_arrived_before_the_wait_is_noticed(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(STOP)
    with pytest.raises(Interrupted), connection.interruptible():
        time.sleep(LONG)


def test_part_of_a_message_interrupts_nothing(ends: Any) -> None:
    engine, connection = ends
    later(lambda: engine.sendall(STOP[:9]))
    with connection.interruptible():
        time.sleep(0.5)
    later(lambda: engine.sendall(STOP[9:]))
    with pytest.raises(Interrupted), connection.interruptible():
        time.sleep(LONG)


def test_nothing_is_interrupted_outside(ends: Any) -> None:
    engine, connection = ends
    later(lambda: engine.sendall(STOP))
    time.sleep(0.5)
    with pytest.raises(Interrupted):
        connection.check_stop()


def test_answer_is_sent_whole(ends: Any) -> None:
    """A stop that arrives while a long answer is written interrupts what follows."""
    engine, connection = ends
    text = "x" * 900_000
    received: list[bytes] = []

    def read() -> None:
        received.append(engine.recv(1))  # The answer is on its way, and longer than the buffer.
        engine.sendall(STOP)
        while not received or not received[-1].endswith(b"\n"):
            received.append(engine.recv(1 << 20))

    reader = threading.Thread(target=read)
    reader.start()
    with pytest.raises(Interrupted), connection.interruptible():
        while True:
            connection.answer({"id": 1, "type": "run"}, text=text)
    reader.join()
    assert b"".join(received).count(text.encode()) == 1


def test_the_signal_goes_to_the_thread_that_waits() -> None:
    get_owner, thread = 16, 0  # F_GETOWN_EX and F_OWNER_TID of fcntl(2).
    engine, adapter = socket.socketpair()
    connection = Connection(adapter)
    owner = struct.unpack("ii", fcntl.fcntl(adapter, get_owner, struct.pack("ii", 0, 0)))
    assert owner == (thread, threading.get_native_id())
    connection.close()
    engine.close()


def test_signal_that_the_program_handles_is_left_alone() -> None:
    def own(*_arguments: Any) -> None:
        pass

    before = signal.signal(signal.SIGURG, own)
    engine, adapter = socket.socketpair()
    try:
        connection = Connection(adapter)
        with connection.interruptible():
            engine.sendall(STOP)
        assert signal.getsignal(signal.SIGURG) is own
        connection.close()
        assert signal.getsignal(signal.SIGURG) is own
    finally:
        signal.signal(signal.SIGURG, before)
        engine.close()


def test_forked_child_leaves_the_guard_to_its_parent(ends: Any) -> None:
    engine, connection = ends
    child = os.fork()
    if child == 0:
        os._exit(0)  # On the way it has closed its end of the connection.
    os.waitpid(child, 0)
    later(lambda: engine.sendall(STOP))
    with pytest.raises(Interrupted), connection.interruptible():
        time.sleep(LONG)


def test_with_other_ranks_a_step_is_not_interrupted(ends: Any, monkeypatch: Any) -> None:
    """They would wait for it for good; `stop` is obeyed at the end of the block."""
    engine, connection = ends
    adapter = Adapter(connection, lambda _writes: None)  # type: ignore[arg-type, return-value]
    monkeypatch.setattr(adapter, "_world", 2)
    engine.sendall(STOP)
    with adapter.interruptible():
        time.sleep(0.1)
    monkeypatch.setattr(adapter, "_world", 1)
    with pytest.raises(Interrupted):
        adapter.interruptible()
