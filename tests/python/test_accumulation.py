"""Optimizers that step after several batches: blocks are whole steps, in phase with them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from cachebisect._job.attempts import Attempts, Room
from cachebisect._script.step_pattern import StepPattern
from engine import TestEngine
from hooked import run_script
from test_observing import HEAD

# Counts at which batch after a step a block begins or ends: the requests of the engine do.
ACCUMULATES = """
import sys
blocks = sys.modules["cachebisect._job.blocks"].Block
since_step = 0
phases = []

def noted(original):
    def call(self, *args):
        phases.append(since_step)
        return original(self, *args)
    return call

blocks.begin, blocks.result = noted(blocks.begin), noted(blocks.result)

{loop}
print("phases", sorted(set(phases)), len(phases))
"""

STEP_BY_STEP = """
for epoch in range(3):
    optimizer.zero_grad()
    for x in DataLoader(Items(), batch_size=4):
        model(x).sum().backward()
        since_step += 1
        if since_step == 4:
            optimizer.step()
            optimizer.zero_grad()
            since_step = 0
"""

# As get_batch_samples of transformers.Trainer.
BATCHES_FIRST = """
import itertools
for epoch in range(3):
    batches = iter(DataLoader(Items(), batch_size=4))
    while some := list(itertools.islice(batches, 4)):
        optimizer.zero_grad()
        for x in some:
            model(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize("loop", [STEP_BY_STEP, BATCHES_FIRST])
def test_blocks_are_whole_steps_of_the_optimizer(loop: str, tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["chain"]["batches_per_step"] == 4, described
        assert any("steps after every 4 batches" in note for note in described["notes"])
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for steps in (4, 8, 4):
            assert engine.run(steps=steps, warmup=4)["steps"] == steps
        engine.finish()

    done = run_script(tmp_path, script, HEAD + ACCUMULATES.format(loop=loop))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "phases [0] 6\n"


def test_the_period_is_the_most_frequent_one() -> None:
    pattern = StepPattern(optimizer_steps=7)
    steps = 7
    for number in range(60):
        pattern.enter(steps)
        steps += number % 4 == 3 and number != 31  # One step is left out, as by a GradScaler.
    assert pattern.batches_per_step() == 4 and pattern.entries == 60
    assert StepPattern(0).batches_per_step() == 1


def test_two_optimizers_that_step_for_each_batch_have_no_period() -> None:
    pattern = StepPattern(0)
    for number in range(10):
        pattern.enter(2 * number)
        assert pattern.in_phase is (number > 0)
    assert pattern.batches_per_step() == 1


def test_a_block_that_fits_an_epoch_is_a_multiple_of_the_group() -> None:
    room = Room()
    attempts = Attempts({"warmup_steps": 6, "steps": 60}, room, group=6)
    assert attempts.next_request()["steps"] == 60
    room.note(41, is_whole=True)
    assert attempts.next_request()["steps"] == 30


def block_of(room: Room, steps: int, warmup: int = 6) -> Attempts:
    return Attempts({"warmup_steps": warmup, "steps": steps}, room, group=2)


def test_an_epoch_is_held_for_a_block_of_which_too_little_would_fit() -> None:
    room = Room()
    room.note(41, is_whole=True)
    assert block_of(room, 137).next_request()["steps"] == 137 and room.holds_epochs
    assert block_of(room, 136).next_request()["steps"] == 34 and not room.holds_epochs
    assert block_of(room, 12).next_request()["steps"] == 12 and not room.holds_epochs
    room = Room()
    room.note(5, is_whole=True)  # Not even the warm-up fits.
    assert block_of(room, 12).next_request()["steps"] == 12 and room.holds_epochs


def test_no_epoch_is_held_in_a_script_that_ends_its_epochs_itself() -> None:
    room = Room()
    room.note(11, is_whole=True)
    for _ in range(3):
        held = block_of(room, 40)
        assert held.next_request()["steps"] == 40 and room.holds_epochs
        held.begins_again(12)
    assert block_of(room, 40).next_request()["steps"] == 4 and not room.holds_epochs
