"""An ordinary training script on a folder of images; nothing of it knows cachebisect.

cachebisect tune -- python examples/python/train_images.py [FOLDER] [--workers 2] [--epochs 1000]

Without a folder it trains on 512 generated JPEGs of 800 x 600. It uses a GPU if there is one.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision import models, transforms


def generate_images(folder, count=512):
    draws = np.random.default_rng(0)
    for number in range(count):
        path = Path(folder) / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        coarse = draws.integers(0, 255, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((800, 600), Image.Resampling.BICUBIC).save(path, quality=90)


def small_model():
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2)
    )


def train(folder, options):
    transform = transforms.Compose(
        [
            transforms.Resize(256),
            transforms.RandomCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize([0.5] * 3, [0.25] * 3),
        ]
    )
    dataset = torchvision.datasets.ImageFolder(folder, transform)
    loader = DataLoader(
        dataset, options.batch, shuffle=True, num_workers=options.workers, pin_memory=options.pin
    )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = small_model() if options.model == "small" else getattr(models, options.model)()
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(options.epochs):
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", help="one subfolder per class")
    parser.add_argument("--model", default="small", help="small, or one of torchvision.models")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--pin", action="store_true", help="pin_memory")
    parser.add_argument("--epochs", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.folder:
        train(options.folder, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        generate_images(folder)
        train(folder, options)


if __name__ == "__main__":
    main()
