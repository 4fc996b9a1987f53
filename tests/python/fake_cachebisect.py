#!/usr/bin/env python3
"""Stands in for the command in tests of the library call: a few blocks, then a small report.

FAKE_ENGINE chooses what it does: nothing more (the default), "die", "refuse", or "unreported",
which writes no report.
`run` in its first argument is not supported; it answers `attach --socket PATH --out DIR`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from typing import Any

ARM = {"kind": "replay", "boundary": 0, "stage": 0, "overrides": {}, "observed": True}
VERDICT = {"kind": "drop", "stage": "transforms[0] Member", "text": "Member costs 50%."}


def value_of(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1]


class Peer:
    def __init__(self, path: str) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            channel, _ = listener.accept()
        self._channel = channel
        self._reader = channel.makefile("rb")
        self._id = 0

    def ask(self, type_: str, **fields: Any) -> dict[str, Any]:
        self._id += 1
        message = {"id": self._id, "type": type_, **fields}
        self._channel.sendall(json.dumps(message).encode() + b"\n")
        line = self._reader.readline()
        if not line:
            sys.exit(3)
        answer: dict[str, Any] = json.loads(line)
        return answer


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # What is interrupted answers an error.
    mode = os.environ.get("FAKE_ENGINE", "")
    if mode == "refuse":
        print("cachebisect: unknown option", file=sys.stderr)
        return 2
    peer = Peer(value_of("--socket"))
    peer.ask("hello", protocol=1, engine="fake")
    answers = [peer.ask("describe")]
    exit_code = 0
    if answers[0]["type"] == "error":
        return 2  # As the engine does: neither a report nor `finish`.
    if exit_code == 0:
        answers.append(peer.ask("prepare", samples=8, host_bytes=None, device_bytes=None))
        if mode == "die":
            os._exit(1)
        for boundary in answers[0]["arms"][0]["boundaries"]:
            arm = {**ARM, "boundary": boundary}
            block = peer.ask("run", arm=arm, steps=400, warmup_steps=2, seed=1, groups=1)
            answers.append(block)
            if block["type"] == "error":
                exit_code = 130 if block["kind"] == "interrupted" else 3
                break
    if mode != "unreported":
        write_report(exit_code, answers)
    peer.ask("finish", then="continue", exit_code=exit_code, text=VERDICT["text"])
    return exit_code


def write_report(exit_code: int, answers: list[dict[str, Any]]) -> None:
    out = value_of("--out")
    with open(os.path.join(out, "report.json"), "w") as file:
        json.dump({"interrupted": exit_code != 0, "verdict": VERDICT, "answers": answers}, file)
    with open(os.path.join(out, "report.txt"), "w") as file:
        file.write("the terminal report\n")


if __name__ == "__main__":
    sys.exit(main())
