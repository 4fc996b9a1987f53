"""The fields of answers have one list, in C++: what the package sends is on it, and what is on it
is sent, but for what a test names."""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from torch.utils.data import DataLoader

import cachebisect
from cachebisect._job.step_profile import StepSamples
from engine import TestEngine
from loaders import Compose, Items, Member
from measured import measure
from message_schema import SCHEMA, check, mistakes, names_in, names_in_schema, parts_of

NOT_SENT = {
    "chain": {
        "copy_prefetch", "effective", "file", "generated_data", "order_nonce", "seed", "sha256",
        "stages.output_bytes", "stages.side_effects", "stages.stateful", "sync_every",
    },
    "cache": {
        "data_set_bytes", "fields", "fields.high", "fields.low", "fields.name",
        "fields.nonzero", "fields.unused", "fields.whole",
        "floor_seconds_per_batch", "floor_seconds_per_sample",
        "grouped_bytes_share", "serve_seconds_per_sample",
    },
    "block": {"padding_share", "resident_share"},
}  # fmt: skip
"""What this adapter does not know."""

OF_SOME_JOBS = ("device.", "expect_samples_per_second", "sending")
"""Sent of a GPU, of a job whose rate was steady, and without workers: fields that begin so."""


class SampledStep:
    """A step that lasts until a sample of the step profile has met it, where one is taken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._met = threading.Event()
        add = StepSamples.add

        def watched(samples: StepSamples, frame: Any) -> None:
            add(samples, frame)
            if samples.functions():
                self._met.set()

        monkeypatch.setattr(StepSamples, "add", watched)

    def __call__(self, batch: Any) -> None:
        if any(thread.name == "cachebisect-step-profile" for thread in threading.enumerate()):
            assert self._met.wait(60)


def _answers(tmp_path: Path, step: SampledStep) -> list[dict[str, Any]]:
    """One answer of each type that has a definition."""
    found: list[dict[str, Any]] = []

    def script(engine: TestEngine) -> None:
        found.append(engine.ask("hello", protocol=1, engine="test"))
        found.append(engine.ask("describe"))
        found.append(engine.ask("sizes", samples=8))
        found.append(engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None))
        found.append(engine.ask("storage", samples=8, max_seconds=60.0))
        found.append({"type": "run", "block": engine.run(profile=True, steps=8)})
        engine.finish()

    loader = DataLoader(Items(Compose([Member(), Member()])), batch_size=4, num_workers=2)
    measure(loader, script, tmp_path, step)
    return found


def test_every_field_is_sent_but_those_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[str, set[str]] = defaultdict(set)
    for answer in _answers(tmp_path, SampledStep(monkeypatch)):
        parts = list(parts_of(answer))
        assert parts, answer
        for name, value in parts:
            sent[name] |= names_in(value)
    assert sent.keys() == SCHEMA.keys()
    for name, schema in SCHEMA.items():
        left = names_in_schema(schema) - sent[name]
        of_some = {field for field in left if field.startswith(OF_SOME_JOBS)}
        assert left - of_some == NOT_SENT.get(name, set()), name
        assert not sent[name] - names_in_schema(schema), name


def test_the_reading_of_a_gpu_has_these_fields() -> None:
    """Sent on CUDA alone."""
    source = (Path(cachebisect.__file__).parent / "_job/gpu_monitor.py").read_text()
    for field in names_in_schema(SCHEMA["block"]["properties"]["device"]):
        assert f'"{field.split(".")[-1]}"' in source, field


@pytest.mark.parametrize(
    "changed,mistake",
    [
        ({"protocol": None}, "hello.protocol is None"),
        ({"pid": True}, "hello.pid is True"),
        ({"colour": 1}, "hello.colour is unknown"),
    ],
)
def test_wrong_answers_are_named(changed: dict[str, Any], mistake: str) -> None:
    hello = {"id": 1, "type": "hello", "protocol": 1, "adapter": "a 1", "pid": 2}
    check(hello)
    with pytest.raises(AssertionError, match=mistake):
        check({**hello, **changed})
    schema = {"properties": {"a": {}}, "required": ["a"]}
    assert list(mistakes({}, schema, "x")) == ["x.a is missing"]
