"""Trains with DistributedDataParallel. Knows nothing of cachebisect.

    cachebisect run -- torchrun --nproc-per-node 2 examples/python/torchrun_ddp.py
    cachebisect run -- torchrun --nproc-per-node 4 examples/python/torchrun_ddp.py --stall 2

--stall N makes the loader of rank N slow, as a bad disk would, --stall N M those of two. The report
names rank and stage.
--backward N makes the backward pass of rank N slow: no rank's input explains that.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Normalize:
    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - 0.5) / 0.25


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
    def __init__(self, transform: Compose) -> None:
        self.images = torch.rand(4096, 3, 16, 16)
        self.labels = torch.randint(0, 10, (4096,))
        self.transform = transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple:
        return self.transform(self.images[index]), int(self.labels[index])


class SlowBackward(torch.autograd.Function):
    """The identity; its gradient takes a while."""

    @staticmethod
    def forward(ctx, x, seconds):
        ctx.seconds = seconds
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(ctx.seconds)
        return gradient, None


class Net(nn.Module):
    def __init__(self, backward_seconds: float) -> None:
        super().__init__()
        self.backward_seconds = backward_seconds
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(768, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits = self.layers(images)
        if self.backward_seconds > 0:
            logits = SlowBackward.apply(logits, self.backward_seconds)
        return logits


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stall", type=int, nargs="+", default=[], metavar="RANK")
    parser.add_argument("--backward", type=int, nargs="+", default=[], metavar="RANK")
    parser.add_argument("--seconds", type=float, default=0.15, help="per batch or step")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    batch_size = 8

    def seconds_if(planted: list[int]) -> float:
        return arguments.seconds if rank in planted else 0.0

    stall = Stall(seconds_if(arguments.stall) / batch_size * max(1, arguments.workers))
    data = RandomImages(Compose([Normalize(), stall]))
    sampler = DistributedSampler(data)
    loader = DataLoader(
        data, batch_size=batch_size, sampler=sampler, num_workers=arguments.workers, drop_last=True
    )
    model = DistributedDataParallel(Net(seconds_if(arguments.backward)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(arguments.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
