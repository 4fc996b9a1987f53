"""A small HTTP server on this machine, for tests of datasets that read from one."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"x" * 3000
SECONDS = 0.002
"""That an answer to /slow takes at least."""
STATUSES = ("404", "429", "500", "503")
MEETING = 4
"""Requests to /meet are answered once so many have arrived."""
_PATIENCE_SECONDS = 60.0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    meeting: threading.Barrier

    def do_GET(self) -> None:
        """The first part of the path says how it is answered: /slow, /meet, /cut, or one of
        STATUSES."""
        kind = self.path.split("/")[1]
        if kind == "slow":
            time.sleep(SECONDS)
        if kind == "meet":
            self.meeting.wait(_PATIENCE_SECONDS)
        if kind == "cut":
            self.close_connection = True
            return
        status, body = 200, BODY
        if self.headers.get("Range", "").startswith("bytes="):
            first, _, last = self.headers["Range"][len("bytes=") :].partition("-")
            status, body = 206, BODY[int(first) : int(last or len(BODY)) + 1]
        self.send_response(int(kind) if kind in STATUSES else status)
        if status == 206:
            place = f"bytes {first}-{int(first) + len(body) - 1}/{len(BODY)}"
            self.send_header("Content-Range", place)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 128


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The server's address, without a slash at its end."""

    class Handler(_Handler):
        meeting = threading.Barrier(MEETING)

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
