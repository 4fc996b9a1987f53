"""The event file, read by TensorBoard's own code."""

from __future__ import annotations

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

from reports import Reports

FILE = "events.out.tfevents.cachebisect"
STARTED = 1767323045.0


def accumulated(reports: Reports) -> EventAccumulator:
    events = EventAccumulator(str(reports.folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return events


def test_every_record_is_read(either: Reports) -> None:
    """A record whose checksum is wrong would end the reading."""
    events = list(EventFileLoader(str(either.path(FILE))).Load())
    scalars = [e for e in events if e.summary.value and e.summary.value[0].tag != "report"]
    assert events[0].file_version == "brain.Event:2"
    assert events[-1].summary.value[0].tag == "report"
    assert len(scalars) > 50


def test_the_figures_are_those_of_the_json_report(drop: Reports) -> None:
    events = accumulated(drop)
    report = drop.json()

    def value(tag: str) -> float:
        (event,) = events.Scalars(tag)
        assert event.wall_time == STARTED and event.step == 0
        return float(event.value)

    def close(a: float, b: float) -> bool:
        return abs(a - b) <= 1e-6 * abs(b)

    assert value("run/live_samples_per_second") == report["live"]["samples_per_second"]
    assert value("run/live_samples_per_second_lower") == report["live"]["interval"][0]
    for stage in report["stages"]:
        assert close(value("stage_drop_ratio/" + stage["name"]), stage["drop"])


def test_blocks_are_curves_over_the_rounds(drop: Reports) -> None:
    (event,) = accumulated(drop).Scalars("block_samples_per_second/2 decode")
    block = drop.json()["blocks"][0]
    assert event.step == block["round"]
    assert event.value == block["samples"] / block["seconds"]


def test_the_page_is_a_text(either: Reports) -> None:
    events = accumulated(either)
    assert "report" in events.PluginTagToContent("text")
    (event,) = events.Tensors("report")
    text = tensor_util.make_ndarray(event.tensor_proto).item()
    assert text.decode() == either.text("report.md")


def test_any_name_of_a_stage_is_a_tag(hostile: Reports) -> None:
    tags = accumulated(hostile).Tags()["scalars"]
    stages = len(hostile.json()["stages"])
    assert sum(tag.startswith("stage_drop_ratio/") for tag in tags) == stages
    assert all("\n" not in tag and "\x1b" not in tag for tag in tags)
