"""Blocks that something goes wrong in: the answer says what, and the job is as it was."""

from __future__ import annotations

import os
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, get_worker_info

from cachebisect._worker.boundary import WorkerInit
from child_processes import children_left
from engine import TestEngine
from loaders import Failing, Items, Stream
from measured import every_arm, measure


@pytest.fixture(autouse=True)
def no_worker_is_left() -> Any:
    yield
    assert children_left() == 0


def failing_block(engine: TestEngine, steps: int = 40, **arm: Any) -> Any:
    """The error that answers a block."""
    whole = {"kind": "replay", "boundary": 0, "overrides": {}, **arm}
    answer = engine.ask("run", arm=whole, steps=steps, warmup_steps=0, seed=1)
    assert answer["type"] == "error" and answer["kind"] == "data", answer
    return answer


def test_error_of_a_sample_is_answered(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("cachebisect._job.pass_through.PASS_STEPS", 2)

    def script(engine: TestEngine) -> None:
        engine.greet()
        answer = failing_block(engine)
        assert "bad sample" in answer["text"] and "loaders.py:" in answer["text"]
        assert answer["traceback"][-1].startswith("ValueError: bad sample")
        engine.finish()

    measure(DataLoader(Failing(length=400), batch_size=4, num_workers=2), script, tmp_path)


class DyingAmongThree(Items):
    """Its workers are killed if there are three, as by a system that runs out of memory."""

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        if info is not None and info.num_workers == 3:
            os.kill(os.getpid(), 9)
        return super().__getitem__(index)


def test_a_changed_loader_whose_worker_is_killed_leaves_the_job_as_it_was(tmp_path: Any) -> None:
    left: list[int] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.run("live")
        answer = failing_block(engine, kind="live", overrides={"num_workers": "3"})
        assert "killed" in answer["text"] or "exited" in answer["text"], answer
        left.append(children_left(1))
        assert engine.run("live")["steps"] == 4
        engine.finish()

    measure(DataLoader(DyingAmongThree(), batch_size=4, num_workers=1), script, tmp_path)
    assert left == [1], "the other two workers have ended, too"


def test_a_start_method_that_cannot_pickle_the_dataset_is_an_answer(tmp_path: Any) -> None:
    def script(engine: TestEngine) -> None:
        engine.greet()
        spawn = {"multiprocessing_context": '"spawn"'}
        answer = failing_block(engine, kind="live", overrides=spawn)
        assert "pickle" in answer["text"].lower(), answer
        assert engine.run("live")["steps"] == 4
        engine.finish()

    dataset = Items(lambda x: x)
    measure(DataLoader(dataset, batch_size=4, num_workers=1), script, tmp_path)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("dataset", [Items(length=22), Stream(length=11)])
def test_a_loader_that_ends_in_mid_block_begins_again(
    dataset: Any, workers: int, tmp_path: Any
) -> None:
    """Its epochs have 3 to 6 batches, the blocks 42."""

    def script(engine: TestEngine) -> None:
        boundaries = len(engine.greet()["chain"]["stages"]) + 1
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for boundary in range(boundaries):
            assert engine.run(boundary=boundary, steps=40)["steps"] == 40
        engine.finish()

    measure(DataLoader(dataset, batch_size=4, num_workers=workers), script, tmp_path)


def test_a_torch_whose_loaders_have_no_in_order(tmp_path: Any) -> None:
    loader = DataLoader(Items(), batch_size=4, num_workers=2)
    vars(loader).pop("in_order", None)  # As before torch 2.6.
    measure(loader, every_arm, tmp_path, own=DataLoader(Items(), batch_size=4))


def test_step_that_writes_into_its_batch_gets_copies(tmp_path: Any) -> None:
    firsts: list[float] = []

    def step(batch: Any) -> None:
        firsts.append(float(batch[0][0, 0]))
        batch[0].add_(1e6)

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert any("writes into its batches" in note for note in described["notes"])
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        for _ in range(3):
            engine.run(boundary=len(described["chain"]["stages"]))
        engine.finish()

    measure(DataLoader(Items(), batch_size=4), script, tmp_path, step)
    assert max(firsts) < 1e6


def test_rounds_begin_with_the_same_weights(tmp_path: Any) -> None:
    model = torch.nn.Linear(4, 1)
    before = model.weight.detach().clone()

    def step(_batch: Any) -> None:
        with torch.no_grad():
            model.weight.add_(1.0)

    weights: list[Any] = []

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("begin_round")
        weights.append(model.weight.detach().clone())
        engine.run()
        engine.finish()

    measure(DataLoader(Items(), batch_size=4), script, tmp_path, step, [model])
    assert torch.equal(weights[0], before)
    assert torch.equal(model.weight, before)


class SlottedInfo:
    """As torch 2.15's WorkerInfo: a frozen dataclass without a namespace."""

    __slots__ = ("dataset",)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError("frozen")


class NamespaceInfo:
    """As that of torch before it."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError("frozen")


@pytest.mark.parametrize("info", [SlottedInfo(), NamespaceInfo()])
def test_the_user_s_code_sees_its_own_dataset_in_a_worker(info: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: info)
    seen: list[Any] = []
    dataset = Items()
    boundary = types.SimpleNamespace(dataset=dataset)
    WorkerInit(boundary, lambda worker: seen.append((worker, info.dataset)))(3)  # type: ignore[arg-type]
    assert seen == [(3, dataset)]
