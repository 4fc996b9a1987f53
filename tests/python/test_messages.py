"""The adapter's end of the socket: limits, broken messages, stop."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from cachebisect._engine.messages import MAX_MESSAGE_BYTES, Connection, ConnectionLost, Interrupted


@pytest.fixture
def ends() -> Any:
    engine, adapter = socket.socketpair()
    connection = Connection(adapter)
    yield engine, connection
    connection.close()
    engine.close()


def test_answers_repeat_id_and_type(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(b'{"id": 7, "type": "hello", "unknown": [1]}\n')
    request = connection.next_request()
    connection.answer(request, protocol=1)
    assert json.loads(engine.recv(1000)) == {"id": 7, "type": "hello", "protocol": 1}


def test_requests_may_arrive_in_pieces_and_together(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(b'{"id": 1, "type": "a"}\n{"id": 2, "ty')
    assert connection.next_request()["type"] == "a"
    engine.sendall(b'pe": "b"}\n')
    assert connection.next_request()["type"] == "b"


def test_stop_is_noticed_between_steps(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(b'{"id": 1, "type": "run"}\n')
    connection.next_request()
    connection.check_stop()
    engine.sendall(b'{"id": 2, "type": "stop"}\n')
    with pytest.raises(Interrupted):
        connection.check_stop()
    engine.sendall(b'{"id": 3, "type": "finish"}\n')
    assert connection.next_request()["type"] == "finish"


def test_late_stop_is_not_a_request(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(b'{"id": 2, "type": "stop"}\n{"id": 3, "type": "machine"}\n')
    assert connection.next_request()["type"] == "machine"
    connection.check_stop()


@pytest.mark.parametrize("line", [b"what\n", b"[1]\n", b'"run"\n', b"\xff\xfe\n"])
def test_what_is_no_message_ends_the_connection(ends: Any, line: bytes) -> None:
    engine, connection = ends
    engine.sendall(line)
    with pytest.raises(ConnectionLost):
        connection.next_request()


def test_end_inside_a_message(ends: Any) -> None:
    engine, connection = ends
    engine.sendall(b'{"id": 1')
    engine.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionLost):
        connection.next_request()


def test_limit_of_length_in_both_directions(ends: Any) -> None:
    engine, connection = ends
    with pytest.raises(ConnectionLost, match="above"):
        connection.answer({"id": 1, "type": "a"}, text="x" * MAX_MESSAGE_BYTES)
    engine.setblocking(False)
    with pytest.raises(ConnectionLost, match="above"):
        while True:
            try:
                engine.send(b"x" * 65536)
            except BlockingIOError:
                pass
            connection.check_stop()


def test_no_number_that_json_lacks_is_sent(ends: Any) -> None:
    _, connection = ends
    with pytest.raises(ValueError):
        connection.answer({"id": 1, "type": "a"}, seconds=float("nan"))


def test_text_is_utf_8_without_surrogates(ends: Any) -> None:
    """Names of files that are not UTF-8 have surrogates; other readers of JSON refuse them."""
    engine, connection = ends
    connection.answer({"id": 1, "type": "a"}, text="Gr\u00f6\u00dfe \udcff")
    line = engine.recv(1000)
    assert b"\\u" not in line
    assert json.loads(line.decode("utf-8"))["text"] == "Gr\u00f6\u00dfe ?"


def test_open_gives_up_when_the_engine_has_ended(tmp_path: Any) -> None:
    # It would wait for longer than any test may take.
    with pytest.raises(ConnectionLost):
        Connection.open(str(tmp_path / "none"), timeout=1e6, alive=lambda: False)
