"""Clips that are decoded in `__getitem__`, measured with the real command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("av")

from test_frameworks import COMMAND, HERE, decided, marked, run

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(COMMAND is None, reason="the command cachebisect is not built"),
]

__all__ = ["marked"]


@pytest.mark.parametrize(
    "reader,stage",
    [("torchcodec", "torchcodec.VideoDecoder.get_frames_at"), ("av", "decode_clip")],
)
def test_decoding_is_named_apart_from_reading(reader: str, stage: str, tmp_path: Path) -> None:
    if reader == "torchcodec":
        try:
            import torchcodec.decoders  # noqa: F401
        except (ImportError, RuntimeError):
            pytest.skip("torchcodec, or FFmpeg for it, is not installed")
    command = [sys.executable, str(HERE / "scripts" / "video_clips.py"), reader]
    report = run(tmp_path, command, ("--budget", "150", "--no-explain", "--inside"))
    verdict = decided(report)
    assert (verdict["kind"], verdict["stage"]) == ("drop", stage), verdict
    names = [each["name"] for each in report["stages"]]
    assert "read Clips.__getitem__" in names, names
