"""Turns calls of libraries that send requests into events of storage.

Watchers may be called from any thread, several at once.
"""

from __future__ import annotations

import errno
import functools
import socket
import weakref
from collections.abc import Hashable, Iterable, Mapping
from time import perf_counter
from typing import Any, Optional

from .._chain import storage_calls as calls
from .._chain.watched import Watcher
from .storage_events import Request, StorageEvents

Args = tuple[Any, ...]
Named = dict[str, Any]
"""Arguments that are given by name."""
Raised = Optional[BaseException]

_INTERNET = (socket.AF_INET, socket.AF_INET6)
_CONNECTS = (None, 0, errno.EINPROGRESS)
"""What socket.connect() and connect_ex() return of a connection that is made, or will be."""


def first_argument(args: Args, _named: Named) -> Any:
    """Before a call: of a method, its object."""
    return args[0]


def request_watchers(events: StorageEvents) -> dict[str, Watcher]:
    """By what a call means. What they see goes to `events`."""
    http, bodies = _HttpClient(events), _Bodies()
    return {
        calls.CONNECT: Watcher(http.connects, http.has_connected),
        calls.RECEIVE: Watcher(_receives, functools.partial(_has_received, events)),
        calls.PUT_REQUEST: Watcher(http.puts_request, http.has_put_request),
        calls.PUT_HEADER: Watcher(http.puts_header, _nothing_more),
        calls.SEND: Watcher(first_argument, http.has_sent),
        calls.GET_RESPONSE: Watcher(first_argument, http.has_response),
        calls.CLOSE_RESPONSE: Watcher(first_argument, http.bodies.has_ended),
        calls.HTTPX: Watcher(functools.partial(_asks_httpx, events), bodies.has_httpx),
        calls.CLOSE_HTTPX: Watcher(first_argument, bodies.has_ended),
        calls.AIOHTTP: Watcher(functools.partial(_asks_aiohttp, events), _has_aiohttp),
    }


def _nothing_more(_note: Any, _result: Any, _error: Raised) -> None:
    pass


def _receives(args: Args, _named: Named) -> Optional[bool]:
    return True if args[0].family in _INTERNET else None


def _has_received(events: StorageEvents, _note: Any, result: Any, error: Raised) -> None:
    if error is None:
        events.received(result if isinstance(result, int) else len(result))


class _Bodies:
    """Answers whose bodies are not there yet. Once they are, the requests have ended."""

    def __init__(self) -> None:
        self._requests: weakref.WeakKeyDictionary[Any, Request] = weakref.WeakKeyDictionary()

    def expect(self, response: Any, request: Request) -> None:
        self._requests[response] = request

    def has_ended(self, response: Any, _result: Any, _error: Raised) -> None:
        """The response is closed: it has been read, or nobody will read it."""
        request = self._requests.pop(response, None)
        if request is not None:
            request.end()

    def has_httpx(self, request: Request, response: Any, error: Raised) -> None:
        if error is not None:
            request.raised(error)
            return
        request.answered(response.status_code)
        self.expect(response, request)


class _HttpClient:
    """Requests of http.client, and connections of any library.

    A connection that is made for a request belongs to the time of the request.
    """

    def __init__(self, events: StorageEvents) -> None:
        self._events = events
        self._sent: weakref.WeakKeyDictionary[Any, Request] = weakref.WeakKeyDictionary()
        self._connecting: dict[int, float] = {}
        """When connections were asked for that no request has used yet, by their descriptors."""
        self.bodies = _Bodies()

    def connects(self, args: Args, _named: Named) -> Optional[tuple[int, float]]:
        """Before a socket connects."""
        sock = args[0]
        if sock.family not in _INTERNET or sock.type != socket.SOCK_STREAM:
            return None
        return sock.fileno(), perf_counter()

    def has_connected(self, note: tuple[int, float], result: Any, error: Raised) -> None:
        if result in _CONNECTS and (error is None or isinstance(error, BlockingIOError)):
            self._events.connected()
            self._connecting[note[0]] = note[1]

    def puts_request(self, args: Args, named: Named) -> tuple[Any, float, tuple[Hashable, ...]]:
        """Before putrequest(method, url)."""
        connection = args[0]
        method, url = (*args[1:], *(named[n] for n in ("method", "url") if n in named))[:2]
        began = self._connecting.pop(_descriptor(connection), perf_counter())
        return connection, began, (str(method), connection.host, connection.port, str(url))

    def has_put_request(
        self, note: tuple[Any, float, tuple[Hashable, ...]], _result: Any, error: Raised
    ) -> None:
        connection, began, key = note
        if error is None:
            self._sent[connection] = self._events.sent(began, key)

    def puts_header(self, args: Args, _named: Named) -> None:
        """Before putheader(name, *values)."""
        request = self._sent.get(args[0])
        if request is not None and _is_range(args[1]):
            request.key = (*request.key, repr(args[2:]))

    def has_sent(self, connection: Any, _result: Any, error: Raised) -> None:
        """After the head is sent, for which http.client connects by itself."""
        self._connecting.pop(_descriptor(connection), None)
        if error is not None:
            self._fail(connection, error)

    def has_response(self, connection: Any, response: Any, error: Raised) -> None:
        if error is not None:
            self._fail(connection, error)
            return
        request = self._sent.pop(connection, None)
        if request is not None:
            request.answered(response.status)
            self.bodies.expect(response, request)

    def _fail(self, connection: Any, error: BaseException) -> None:
        request = self._sent.pop(connection, None)
        if request is not None:
            request.raised(error)


def _descriptor(connection: Any) -> int:
    """-1 if the connection is not made yet."""
    sock = getattr(connection, "sock", None)
    return -1 if sock is None else int(sock.fileno())


def _is_range(name: Any) -> bool:
    return (name.decode("latin-1") if isinstance(name, bytes) else str(name)).lower() == "range"


def _asks_httpx(events: StorageEvents, args: Args, named: Named) -> Request:
    """Before handle_request(request)."""
    asked = args[1] if len(args) > 1 else named["request"]
    began = perf_counter()
    return events.sent(began, (str(asked.method), str(asked.url), asked.headers.get("range")))


def _asks_aiohttp(events: StorageEvents, args: Args, named: Named) -> Request:
    """Before _request(method, url, headers=, params=)."""
    method, url = (*args[1:], *(named[n] for n in ("method", "str_or_url") if n in named))[:2]
    headers = named.get("headers") or ()
    pairs: Iterable[Any] = headers.items() if isinstance(headers, Mapping) else headers
    ranges = [repr(value) for name, value in pairs if _is_range(name)]
    began = perf_counter()
    return events.sent(began, (str(method), str(url), repr(named.get("params")), *ranges))


def _has_aiohttp(request: Request, response: Any, error: Raised) -> None:
    if error is not None:
        request.raised(error)
        return
    request.answered(response.status)
    response.content.on_eof(request.end)
