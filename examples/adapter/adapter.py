"""A training loop without torch that cachebisect measures: docs/extend/protocol.md in 60 lines.

    cachebisect run -- python3 examples/adapter/adapter.py
"""

import json
import os
import socket
import time

BATCH = 32


def read(index):  # A stage that waits for storage.
    time.sleep(0.0002)
    return [index] * 64


def tokenize(sample):  # A stage that computes.
    return [value * 31 % 1009 for value in sample * 8]


def train(batch):
    time.sleep(0.004)


STAGES = [("read", "read.file", "source", read), ("tokenize", "augment.text", "sample", tokenize)]
DESCRIPTION = {
    "chain": {
        "name": "plain Python", "batch_size": BATCH, "workers": 0, "loader": "batch", "samples": 0,
        "train": "a plain loop", "device_kind": "cpu", "device_name": "CPU",
        "stages": [{"name": n, "type": t, "kind": k, "held": "host"} for n, t, k, _ in STAGES]},
    "arms": [{"kind": "replay", "boundaries": [0, 1, 2]}],
    "settings": [], "advice": {"workers": "load in a process pool: pool.imap(load, indices)"},
}  # fmt: skip
caches = [[], [], []]  # By boundary: indices, samples that were read, samples to train on.
served = [0, 0, 0]  # Each block goes on in its cache where the last one stopped.


def fill(samples):
    caches[0] = list(range(samples))
    for boundary, (_, _, _, stage) in enumerate(STAGES, start=1):
        caches[boundary] = [stage(sample) for sample in caches[boundary - 1]]
    return {"samples": samples, "bytes_host": samples * 5000, "bytes_device": 0, "seconds": 0}


def run(boundary, steps):
    """When it began, its seconds, those of them that steps waited for batches, and CPU seconds."""
    began, cpu, waited = time.monotonic(), time.process_time(), 0.0
    for _ in range(steps):
        asked, place = time.monotonic(), served[boundary] % len(caches[boundary])
        batch = caches[boundary][place : place + BATCH]
        served[boundary] += BATCH
        for _, _, _, stage in STAGES[boundary:]:
            batch = [stage(sample) for sample in batch]
        waited += time.monotonic() - asked
        train(batch)
    return began, time.monotonic() - began, waited, time.process_time() - cpu


def block(arm, steps, warmup_steps):
    run(arm["boundary"], warmup_steps)
    began, seconds, waited, cpu = run(arm["boundary"], steps)
    return {"start_seconds": began, "seconds": seconds, "steps": steps, "samples": steps * BATCH,
            "warmup_steps": warmup_steps, "cpu_seconds": cpu, "starved_seconds": waited}  # fmt: skip


ANSWERS = {
    "hello": lambda _: {"protocol": 1, "adapter": "plain 1", "pid": os.getpid()},
    "describe": lambda _: DESCRIPTION,
    "sizes": lambda _: {"item_bytes": [8, 600, 4200], "samples_in_flight": 0, "round_to": BATCH},
    "prepare": lambda asked: {"cache": fill(asked["samples"])},
    "freshen": lambda _: {"freshened": False},
    "run": lambda asked: {"block": block(asked["arm"], asked["steps"], asked["warmup_steps"])},
    "machine": lambda _: {"own_cpu_seconds": time.process_time()},
}
engine = socket.socket(socket.AF_UNIX)
engine.connect(os.environ["CACHEBISECT_SOCKET"])
for asked in map(json.loads, engine.makefile()):
    if asked["type"] != "stop":  # A block is short: the open request is answered soon.
        answer = ANSWERS.get(asked["type"], lambda _: {})(asked)
        message = {"id": asked["id"], "type": asked["type"], **answer}
        engine.sendall(json.dumps(message).encode() + b"\n")
