"""The settings and the advice that the engine is told."""

from __future__ import annotations

import json
from pathlib import Path

from cachebisect._chain.settings import SETTINGS, described_settings, runnable

FIXTURE = Path(__file__).parent.parent / "fixtures" / "torch_settings.json"


def test_the_engines_tests_use_what_is_sent() -> None:
    assert json.loads(FIXTURE.read_text()) == json.loads(json.dumps(described_settings()))


def test_each_setting_has_a_name_a_path_and_a_line_with_its_value() -> None:
    for setting in SETTINGS:
        assert "{}" in setting.code, setting.name
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert len({setting.path for setting in SETTINGS}) == len(SETTINGS)


def test_a_live_arm_runs_what_needs_no_other_batch() -> None:
    assert "batch_size" not in runnable()
    assert {"num_workers", "workers", "pin_memory"} <= runnable()


def test_other_iterators_have_no_settings_of_a_data_loader() -> None:
    names = {setting["name"] for setting in described_settings(of_data_loader=False)["settings"]}
    assert names == {"non_blocking", "amp", "channels_last", "compile"}


def test_threads_are_for_datasets_that_are_asked_for_single_samples() -> None:
    names = [setting["name"] for setting in described_settings()["settings"]]
    others = [setting["name"] for setting in described_settings(single_samples=False)["settings"]]
    assert set(names) - set(others) == {"read_threads"} and "read_threads" in runnable()
