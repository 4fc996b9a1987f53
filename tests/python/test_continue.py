"""`--then continue`: after measuring, training goes on bit for bit as if nothing had been."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._chain import trees
from cachebisect._job.state import KeptDict, KeptState
from cachebisect._worker.kept_random import KeptRandom
from engine import TestEngine
from hooked import run_in_fork, run_script

TRAINING = """
import json
import random

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, Sampler


class Noisy(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        x = torch.full((4,), float(index)) + torch.rand(4)
        return x + random.random() + numpy.random.rand(), index


class Resumable(Sampler):
    # Keeps its position, as samplers that are saved with a checkpoint do.
    def __init__(self):
        self.position = 0

    def __len__(self):
        return 200

    def __iter__(self):
        while self.position < 200:
            self.position += 1
            yield self.position - 1
        self.position = 0


if __name__ == "__main__":
    torch.manual_seed(1)
    numpy.random.seed(1)
    random.seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
    )
    ema = torch.optim.swa_utils.AveragedModel(model)
    averages = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 7, 0.9)
    loader = DataLoader(Noisy(), batch_size=4, num_workers={workers}, {order})
    seen = []
    for epoch in range(4):
        for x, indices in loader:
            seen.append(indices.tolist())
            model(x).square().mean().backward()
            optimizer.step()
            scheduler.step()
            ema.update_parameters(model)
            for average, parameter in zip(averages, model.parameters()):
                average.lerp_(parameter.detach(), 0.1)
            optimizer.zero_grad(set_to_none={to_none})
    torch.manual_seed(torch.randint(1 << 30, (1,)).item())
    print(json.dumps([
        [value.tolist() for value in
         (*model.state_dict().values(), *ema.state_dict().values(), *averages)],
        scheduler.last_epoch, optimizer.param_groups[0]["lr"], seen,
        torch.rand(1).item(), numpy.random.rand(), random.random(),
    ]))
"""

SHUFFLED = "shuffle=True"
OWN_GENERATOR = "shuffle=True, generator=torch.Generator().manual_seed(3)"
RESUMABLE = "sampler=Resumable()"


@pytest.mark.parametrize(
    "optimizer,workers,order,to_none",
    [
        ("Adam", 0, SHUFFLED, True),
        ("SGD", 2, SHUFFLED, False),
        ("AdamW", 0, OWN_GENERATOR, True),
        ("RMSprop", 0, RESUMABLE, False),
    ],
)
def test_weights_samples_and_random_numbers_are_those_of_an_untouched_run(
    optimizer: str, workers: int, order: str, to_none: bool, tmp_path: Any
) -> None:
    text = TRAINING.format(optimizer=optimizer, workers=workers, order=order, to_none=to_none)

    def script(engine: TestEngine) -> None:
        described = engine.greet()
        assert described["type"] == "describe", described
        engine.ask("prepare", samples=16, host_bytes=None, device_bytes=None)
        for _ in range(2):
            engine.ask("begin_round")
            for boundary in range(len(described["chain"]["stages"]) + 1):
                engine.run(boundary=boundary, steps=6)
        engine.finish()

    done = run_script(tmp_path, script, text)
    assert done.returncode == 0, done.stderr
    alone = run_in_fork(tmp_path / "train.py", dict(os.environ), tmp_path)
    measured, untouched = json.loads(done.stdout), json.loads(alone.stdout)
    orders = measured.pop(3), untouched.pop(3)
    assert measured == untouched
    assert without_measured_steps(*orders) == orders[1]


def without_measured_steps(measured: list[Any], untouched: list[Any]) -> list[Any]:
    """What the loop got before measuring, and what it got after it."""
    before = next(n for n, pair in enumerate(zip(measured, untouched)) if pair[0] != pair[1])
    assert len(measured) > len(untouched) > before >= 30
    return [*measured[:before], *measured[len(measured) - len(untouched) + before :]]


def test_what_cannot_be_restored_leaves_the_rest_restored() -> None:
    class Failing:
        def restore(self) -> None:
            raise RuntimeError("not restored")

    weights = torch.nn.Linear(1, 1)
    kept = KeptState([weights], at_end=[Failing(), KeptRandom()])
    before = weights.weight.item(), torch.rand(1).item()
    with torch.no_grad():
        weights.weight.add_(1)
    with pytest.raises(RuntimeError, match="not restored"):
        kept.restore_all()
    assert (weights.weight.item(), torch.rand(1).item()) == before


def test_parameters_that_steps_put_elsewhere_and_histories_are_restored() -> None:
    """As SAM does with data, and LBFGS with lists."""
    weights = torch.nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.LBFGS(weights.parameters(), max_iter=2, history_size=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = weights(torch.ones(2, 3)).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    before = copy.deepcopy((weights.state_dict(), optimizer.state_dict()))
    kept = KeptState([optimizer])
    optimizer.step(closure)
    weights.weight.data = torch.full((1, 3), 7.0)
    kept.restore()
    assert trees.digest(before) == trees.digest((weights.state_dict(), optimizer.state_dict()))


def test_a_scheduler_that_follows_another_one_goes_on_with_the_same() -> None:
    schedulers = torch.optim.lr_scheduler
    # LRScheduler from torch 2.0 on.
    base = getattr(schedulers, "LRScheduler", schedulers._LRScheduler)

    class Warmup(base):  # type: ignore[misc,valid-type]
        def __init__(self, optimizer: Any, after: Any) -> None:
            self.after = after
            super().__init__(optimizer)

        def get_lr(self) -> list[float]:
            return [group["lr"] for group in self.optimizer.param_groups]

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    after = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    warmup = Warmup(optimizer, after)
    kept = KeptState([optimizer], at_end=[KeptDict(warmup)])
    kept.restore_all()
    assert warmup.after is after and after.optimizer is optimizer


def test_an_object_of_the_user_is_kept_by_its_state_alone() -> None:
    """As torch_ema's, whose restore() is something else."""

    class Average:
        value = 1

        def state_dict(self) -> dict[str, int]:
            return {"value": self.value}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.value = state["value"]

        def restore(self) -> None:
            raise RuntimeError("nothing was stored")

    average = Average()
    kept = KeptState([average])
    average.value = 2
    kept.restore()
    assert average.value == 1
