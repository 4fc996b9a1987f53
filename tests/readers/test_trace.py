"""cachebisect.pt.trace.json, by the rules of the Chrome trace format that Perfetto enforces."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from reports import Reports


def events(reports: Reports) -> list[dict[str, Any]]:
    trace = json.loads(reports.text("cachebisect.pt.trace.json"))
    assert isinstance(trace, dict)
    found: list[dict[str, Any]] = trace["traceEvents"]
    return found


def slices(reports: Reports) -> list[dict[str, Any]]:
    return [event for event in events(reports) if event["ph"] == "X"]


def test_every_event_has_what_its_phase_needs(either: Reports) -> None:
    for event in events(either):
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["args"], dict)
        assert event["ph"] in "MX"
        if event["ph"] == "X":
            assert event["dur"] >= 0


def test_slices_of_a_track_do_not_overlap(either: Reports) -> None:
    tracks: dict[Any, list[tuple[float, float]]] = defaultdict(list)
    for event in slices(either):
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for track in tracks.values():
        track.sort()
        assert all(end <= begin for (_, end), (begin, _) in zip(track, track[1:]))


def test_every_track_with_slices_is_named(either: Reports) -> None:
    named = {event["tid"] for event in events(either) if event["name"] == "thread_name"}
    assert named == {event["tid"] for event in slices(either)}


def test_slices_are_the_blocks_of_the_json_report(either: Reports) -> None:
    blocks = sorted(either.json()["blocks"], key=lambda block: block["start_seconds"])
    found = sorted(slices(either), key=lambda event: event["ts"])
    assert len(blocks) == len(found) > 0
    for block, event in zip(blocks, found):
        assert abs(event["ts"] - block["start_seconds"] * 1e6) <= 0.001
        assert {key: event["args"][key] for key in ("round", "arm", "seconds", "void")} == {
            key: block[key] for key in ("round", "arm", "seconds", "void")
        }
