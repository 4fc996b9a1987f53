"""Trains a small network on MNIST, as countless first scripts do. Knows nothing of cachebisect.

    cachebisect run -- python examples/python/mnist.py
    cachebisect run --what-if num_workers=2 --verify -- python examples/python/mnist.py

Needs torchvision, which installs torch and Pillow. Without a network, --fake trains on random
images of the same kind.
"""

import argparse

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(800, 10),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


class RandomDigits(Dataset):
    """Random images, read as torchvision's MNIST reads its own."""

    def __init__(self, transform):
        self.data = torch.randint(0, 256, (20000, 28, 28), dtype=torch.uint8)
        self.targets = torch.randint(0, 10, (20000,))
        self.transform = transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image = Image.fromarray(self.data[index].numpy(), mode="L")
        return self.transform(image), int(self.targets[index])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--pin-memory", action="store_true")
    parser.add_argument("--epochs", type=int, default=2)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    if arguments.fake:
        data = RandomDigits(transform)
    else:
        data = datasets.MNIST(arguments.data, download=True, transform=transform)
    loader = DataLoader(
        data, batch_size=64, shuffle=True,
        num_workers=arguments.workers, pin_memory=arguments.pin_memory,
    )  # fmt: skip
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(arguments.epochs):
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
