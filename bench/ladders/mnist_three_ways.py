"""The script of a published comparison: MNIST with no workers, with 8, and with pinned memory too.

    python bench/ladders/mnist_three_ways.py --data FOLDER [--epochs 5] [--workers 8] [--pinned]
    cachebisect tune -- python bench/ladders/mnist_three_ways.py --data FOLDER --epochs 100

FOLDER holds MNIST/raw with the files of MNIST, which are downloaded if there is a network.
"""

from __future__ import annotations

import argparse
from time import time
from typing import Any

import torch
from torch import nn, optim
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class SimpleFeedForwardNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(28 * 28, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.fc1(images.view(-1, 28 * 28)))
        result: torch.Tensor = self.fc3(torch.relu(self.fc2(hidden)))
        return result


def train(
    model: nn.Module, device: torch.device, loader: Any, optimizer: Any, non_blocking: bool
) -> float:
    """Returns the mean loss of an epoch."""
    criterion = nn.CrossEntropyLoss()
    model.train()
    total = 0.0
    for images, labels in loader:
        images = images.to(device, non_blocking=non_blocking)
        labels = labels.to(device, non_blocking=non_blocking)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--pinned", action="store_true")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    data = datasets.MNIST(arguments.data, train=True, download=True, transform=transform)
    loader = DataLoader(
        data, batch_size=64, shuffle=True,
        num_workers=arguments.workers, pin_memory=arguments.pinned,
    )  # fmt: skip
    model = SimpleFeedForwardNN().to(device)
    optimizer = optim.Adam(model.parameters(), lr=0.001)
    began = time()
    for epoch in range(1, arguments.epochs + 1):
        loss = train(model, device, loader, optimizer, arguments.pinned)
        print(f"epoch {epoch}: loss {loss:.6f}")
    print(f"{(time() - began) / arguments.epochs:.2f} s per epoch")


if __name__ == "__main__":
    main()
