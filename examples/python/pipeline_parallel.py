"""Trains a model whose two halves are on two ranks. Only the first one reads data.

    cachebisect run -- torchrun --nproc-per-node 2 examples/python/pipeline_parallel.py --stall 0.02

cachebisect.steps() in the loop of the second rank is all that cachebisect needs to measure both.
--stall SECONDS makes the loader slow, as a bad disk would: so long for each batch.
--half SECONDS makes the second half of the model slow: no input explains that.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

try:
    from cachebisect import steps
except ImportError:  # Where it is not installed, and not measured.
    steps = iter

BATCH_SIZE = 8
FEATURES = 16


class Stall:
    """Waits, as a slow disk makes a reader wait."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        if self.seconds > 0:
            time.sleep(self.seconds)
        return image


class Compose:
    def __init__(self, transforms: list) -> None:
        self.transforms = transforms

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        for transform in self.transforms:
            image = transform(image)
        return image


class RandomImages(Dataset):
    def __init__(self, count: int, transform: Compose) -> None:
        self.images = torch.rand(count, FEATURES, generator=torch.Generator().manual_seed(1))
        self.transform = transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.images[index])


def train_first(loader: DataLoader, half: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """An epoch of the rank that reads."""
    loss = torch.zeros(1)
    for images in loader:
        optimizer.zero_grad()
        middle = half(images)
        dist.send(middle.detach(), 1)
        gradient = torch.empty_like(middle)
        dist.recv(gradient, 1)
        middle.backward(gradient)
        optimizer.step()
        dist.recv(loss, 1)  # As for a log.


def train_second(
    count: int, half: nn.Module, optimizer: torch.optim.Optimizer, wait: float
) -> None:
    """The same epoch where no data is read: one step for each batch."""
    for _ in steps(range(count)):
        optimizer.zero_grad()
        middle = torch.empty(BATCH_SIZE, FEATURES)
        dist.recv(middle, 0)
        middle.requires_grad_()
        time.sleep(wait)
        loss = half(middle).pow(2).mean()
        loss.backward()
        dist.send(middle.grad, 0)
        optimizer.step()
        dist.send(loss.detach().reshape(1), 0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stall", type=float, default=0.0, help="seconds per batch")
    parser.add_argument("--half", type=float, default=0.0, help="seconds per step")
    parser.add_argument("--batches", type=int, default=100, help="of an epoch")
    parser.add_argument("--epochs", type=int, default=1000)
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    half = nn.Sequential(nn.Linear(FEATURES, FEATURES), nn.ReLU())
    optimizer = torch.optim.SGD(half.parameters(), 0.01, momentum=0.9)
    data = RandomImages(
        arguments.batches * BATCH_SIZE, Compose([Stall(arguments.stall / BATCH_SIZE)])
    )
    loader = DataLoader(data, batch_size=BATCH_SIZE, num_workers=1)
    for _ in range(arguments.epochs):
        if dist.get_rank() == 0:
            train_first(loader, half, optimizer)
        else:
            train_second(arguments.batches, half, optimizer, arguments.half)
    total = sum(float(parameter.detach().double().sum()) for parameter in half.parameters())
    print(f"rank {dist.get_rank()}: {total:.17g}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
