"""A server of samples on this machine, each answered after some milliseconds, on a port of its own.

Prints its address. /busy/N is answered with 503 every third time. Ends with its standard input.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = bytes(60_000)


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ms", type=float, default=20)
    parser.add_argument("--address", default="127.0.0.1")
    options = parser.parse_args()
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            refused = self.path.startswith("/busy/") and next(numbers) % 3 == 0
            if not refused:
                time.sleep(options.ms / 1e3)
            body = b"" if refused else BODY
            self.send_response(503 if refused else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = Server((options.address, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://{options.address}:{server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
