"""Is the slow machine of a job found, and what happens when one is cut off?

    python bench/python/nodes.py --resume nodes.jsonl [--nodes 2] [--repetitions 3]

Network namespaces of this machine are the nodes, with two gloo ranks each; needs root.
    rank       150 ms per batch in the loader of one rank of the last node: right is node and rank
    node       the same in both: right is the node, and no rank
    storage    all read from a server, and the link of the last node is limited to 10 Mbit/s
    backward   200 ms in the backward pass of rank 1: right is "No rank's input explains ..."
    cut        the last node's link goes down while blocks run: right is the report so far within a
               minute, exit code 3, and the node's name
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Optional

from figures import ROOT, Records, machine, outcomes, table
from namespaces import SERVER, Hosts, missing

EXAMPLE = str(ROOT / "examples" / "python" / "torchrun_ddp.py")
REMOTE = str(ROOT / "bench" / "python" / "nodes_loop.py")
COMMAND = os.environ.get("CACHEBISECT_BINARY", str(ROOT / "build/release/bin/cachebisect"))
RANKS = 2
"""Of each node."""
CASES = ("rank", "node", "storage", "backward", "cut")
RESULTS = ("right", "wrong", "inconclusive", "failed")
LIMIT_MEGABITS = 10.0
CUT_SECONDS = 60.0
PORT = 29740


def script_of(case: str, nodes: int, server: str) -> list[str]:
    last = RANKS * nodes - 1
    planted = {
        "rank": ["--stall", str(last)],
        "node": ["--stall", str(last - 1), str(last)],
        "backward": ["--backward", "1", "--seconds", "0.2"],
        "cut": ["--stall", str(last)],
    }
    if case == "storage":
        return [REMOTE, "--server", server]
    return [EXAMPLE, *planted[case], "--epochs", "100000"]


def judge(case: str, nodes: int, report: dict[str, Any]) -> str:
    """One of RESULTS."""
    verdict = report["verdict"]
    if verdict["kind"] == "inconclusive":
        return "inconclusive"
    if case == "backward":
        return "right" if "No rank's input explains" in verdict["text"] else "wrong"
    last = RANKS * nodes - 1
    wanted = {"first": last, "count": 1} if case == "rank" else {"first": last - 1, "count": RANKS}
    if verdict["ranks"] is None:
        return "inconclusive"
    named = f"node host-{nodes}" in verdict["text"]
    return "right" if verdict["ranks"] == wanted and named else "wrong"


class Job:
    """A run of the command in all namespaces. All processes are killed at the end."""

    def __init__(self, hosts: Hosts, script: list[str], folder: Path, budget: float) -> None:
        self.hosts, self.script, self.folder = hosts, script, folder
        self.environment = {
            **os.environ,
            "CACHEBISECT_TOKEN": secrets.token_hex(16),
            "GLOO_SOCKET_IFNAME": "eth0",
            "OMP_NUM_THREADS": "1",
        }
        self.report = folder / "report.json"
        options = ["run", "--nodes", str(hosts.count), "--address", hosts.address(0), "--json"]
        options += [str(self.report), "--budget", str(budget), "--log-level", "debug", "--quiet"]
        self.first = self._start(0, options)
        engine = f"{hosts.address(0)}:{PORT}"
        self.others = [self._start(h, ["join", engine]) for h in range(1, hosts.count)]

    def _start(self, host: int, options: list[str]) -> subprocess.Popen:
        words = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(self.hosts.count)]
        words += ["--node-rank", str(host), "--nproc-per-node", str(RANKS)]
        words += ["--master-addr", self.hosts.address(0), "--master-port", "29500", *self.script]
        command = [COMMAND, options[0], "--name", self.hosts.name(host), *options[1:], "--"]
        with self.log(host).open("w") as log:
            return subprocess.Popen(
                [*self.hosts.words(host), *command, *words],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self, host: int) -> Path:
        return self.folder / f"{host}.log"

    def end(self, seconds: float) -> Optional[int]:
        """The exit code of the first node's command; None if it does not end in time."""
        try:
            return self.first.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def others_end(self, seconds: float) -> list[Optional[int]]:
        deadline = time.monotonic() + seconds
        codes: list[Optional[int]] = []
        for process in self.others:
            try:
                codes.append(process.wait(max(0.1, deadline - time.monotonic())))
            except subprocess.TimeoutExpired:
                codes.append(None)
        return codes

    def kill(self) -> None:
        for process in (self.first, *self.others):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def cut_off(job: Job, hosts: Hosts) -> dict[str, Any]:
    """Cuts the last node off once blocks run."""
    deadline = time.monotonic() + 300
    while "measure, round" not in job.log(0).read_text():
        if time.monotonic() > deadline or job.first.poll() is not None:
            return {"result": "failed", "text": job.log(0).read_text()[-500:]}
        time.sleep(0.2)
    time.sleep(3)
    hosts.cut(hosts.count - 1)
    began = time.monotonic()
    while not job.report.exists() and time.monotonic() < began + CUT_SECONDS:
        time.sleep(0.2)
    reported = time.monotonic() - began
    # Ranks that wait for the others cannot be told: their command has a minute to end.
    code = job.end(2 * CUT_SECONDS)
    text = job.log(0).read_text()
    named = f"node host-{hosts.count}" in text
    right = code == 3 and reported < CUT_SECONDS and named
    return {
        "result": "right" if right else "wrong",
        "text": f"report after {reported:.0f} s, exit code {code}: {text[-300:]}",
    }


def run_once(case: str, arguments: argparse.Namespace) -> dict[str, Any]:
    began = time.monotonic()
    server = [sys.executable, str(ROOT / "bench/python/storage_server.py"), "--ms", "2"]
    with (
        Hosts(arguments.nodes) as hosts,
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*server, "--address", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as storage,
    ):
        assert storage.stdout is not None
        url = storage.stdout.readline().strip()
        if case == "storage":
            hosts.limit(arguments.nodes - 1, LIMIT_MEGABITS)
        script = script_of(case, arguments.nodes, url)
        job = Job(hosts, script, Path(folder), arguments.budget)
        try:
            if case == "cut":
                return {**cut_off(job, hosts), "seconds": time.monotonic() - began}
            code = job.end(arguments.timeout)
            seconds = time.monotonic() - began
            codes = job.others_end(60)
            if code != 0 or any(other != 0 for other in codes):
                text = f"exit codes {code}, {codes}: {job.log(0).read_text()[-500:]}"
                return {"result": "failed", "text": text, "seconds": seconds}
            report = json.loads(job.report.read_text())
        finally:
            job.kill()
            storage.kill()
    result = judge(case, arguments.nodes, report)
    payoffs = report["ranks"]
    text = report["verdict"]["text"]
    return {"result": result, "text": text, "seconds": seconds, "payoffs": payoffs}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2, help="namespaces (2)")
    parser.add_argument("--repetitions", type=int, default=3, help="of each case (3)")
    parser.add_argument("--budget", type=float, default=300, help="seconds per verdict (300)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds per run (900)")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--resume", metavar="FILE", help="keeps finished runs, one per line")
    arguments = parser.parse_args()
    why = missing()
    if why:
        parser.error(why)
    records = Records(arguments.resume)
    rows, everything = [], []
    for case in arguments.cases.split(","):
        found = []
        for number in range(arguments.repetitions):
            key = {"case": case, "run": number, "nodes": arguments.nodes}
            record = records.find(**key)
            record = record or records.add(**key, **run_once(case, arguments))
            print(f"{case} {number} {record['result']:12} {record['seconds']:5.0f} s  ", end="")
            print(record["text"][-400:] if record["result"] != "right" else record["text"][:150])
            sys.stdout.flush()
            found.append(record)
        rows.append([case, *outcomes(found, RESULTS)])
        everything += found
    nodes = f"{arguments.nodes} nodes of {RANKS} ranks"
    print("\n" + table([nodes, *RESULTS, "whole run: median, longest"], rows))
    print("\n" + machine(everything))
    return 1 if any(record["result"] in ("wrong", "failed") for record in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
