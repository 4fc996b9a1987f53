"""What making samples has asked of storage: the events of one worker, and their sums.

Events come from any thread, and without a lock: each is one append to a list, which no thread can
interrupt, and which a forked process may be in the middle of.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from time import perf_counter
from typing import Any, Optional

_TOO_MANY = (429, 503)
_SERVER_ERROR = 500


class Request:
    """One request to a server. Times are those of time.perf_counter()."""

    __slots__ = ("began", "ended", "failed", "key", "sample", "throttled")

    def __init__(self, began: float, sample: int, key: tuple[Hashable, ...]) -> None:
        self.began = began
        self.sample = sample
        """That was being made when it was sent."""
        self.key = key
        """What is asked for: the same for requests that get the same."""
        self.ended: Optional[float] = None
        """None: it has had no answer yet."""
        self.throttled = False
        self.failed = False

    def end(self) -> None:
        """It has all of its answer, or the part that can be seen."""
        self.ended = perf_counter()

    def answered(self, status: Any) -> None:
        """The head of the answer is there. `status`: of HTTP."""
        self.end()
        self.throttled = status in _TOO_MANY
        self.failed = isinstance(status, int) and status >= _SERVER_ERROR and not self.throttled

    def raised(self, error: BaseException) -> None:
        """It ended by `error`. Some libraries raise answers."""
        self.answered(getattr(error, "status", None))
        if not isinstance(getattr(error, "status", None), int):
            self.failed = isinstance(error, Exception)  # Not if it was cancelled.


class StorageEvents:
    """The events since it was made. Thread safe."""

    def __init__(self) -> None:
        self.sample = 0
        """Number of the sample that is being made, from 0."""
        self._opens: list[tuple[int, str]] = []
        self._requests: list[Request] = []
        self._received: list[int] = []
        self._connections: list[int] = []
        self._clients: list[int] = []
        self._stores: list[int] = []

    def opened(self, path: str) -> None:
        """A file is open to be read. `path`: empty if it is not known."""
        self._opens.append((self.sample, path))

    def sent(self, began: float, key: tuple[Hashable, ...]) -> Request:
        """A request is sent, or its connection has been asked for at `began`."""
        request = Request(began, self.sample, key)
        self._requests.append(request)
        return request

    def received(self, size: int) -> None:
        """Bytes of an answer."""
        self._received.append(size)

    def connected(self) -> None:
        self._connections.append(self.sample)

    def made_client(self) -> None:
        self._clients.append(self.sample)

    def met_store(self) -> None:
        """An object store is used for the first time; when it was made was not seen."""
        self._stores.append(self.sample)

    def sums(self, began: float, ended: float) -> dict[str, Any]:
        """Fields of `storage` of docs/extend/protocol.md, for the time between two moments."""
        requests = list(self._requests)
        times = [(each.began, each.ended or ended) for each in requests]
        waiting, most = _in_flight(times, began, ended)
        # If all were used for the first time in the first sample, they are kept from before.
        stores = self._stores if any(self._stores) else ()
        return {
            "file_opens": len(self._opens),
            "requests": len(requests),
            "request_seconds": sum(max(0.0, end - begin) for begin, end in times),
            "waiting_seconds": waiting,
            "most_in_flight": most,
            "received_bytes": sum(self._received),
            "connections": len(self._connections),
            "clients": len(self._clients) + len(stores),
            "throttled": sum(each.throttled for each in requests),
            "failed": sum(each.failed for each in requests),
            "reopened": _repeated((sample, path) for sample, path in list(self._opens) if path)
            + _repeated((each.sample, each.key) for each in requests),
        }


def _in_flight(
    times: Iterable[tuple[float, float]], began: float, ended: float
) -> tuple[float, int]:
    """Seconds in which at least one of `times` lasted, and the most that did so at once."""
    changes = []
    for first, last in times:
        first, last = max(began, first), min(ended, last)
        if first < last:
            changes += [(first, 1), (last, -1)]
    seconds, now, most, since = 0.0, 0, 0, 0.0
    for moment, change in sorted(changes):  # What ends at a moment is before what begins then.
        if now > 0:
            seconds += moment - since
        now, since = now + change, moment
        most = max(most, now)
    return seconds, most


def _repeated(events: Iterable[tuple[int, Hashable]]) -> int:
    """Events of what an earlier sample had asked for. Each: a sample, and what it asks for."""
    first: dict[Hashable, int] = {}
    return sum(sample > first.setdefault(key, sample) for sample, key in events)
