"""The library call on a folder of images (torchvision's ImageFolder).

python examples/python/image_folder.py FOLDER [--workers 2] [--save report.html]
"""

import argparse

import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader
from torchvision.transforms import v2

import cachebisect


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="one subfolder per class")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--save", help="file for the report: its extension is the format")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    transform = v2.Compose(
        [
            v2.PILToTensor(),
            v2.RandomResizedCrop(64, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    dataset = torchvision.datasets.ImageFolder(arguments.folder, transform)
    loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=arguments.workers)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(len(dataset.classes))
    ).to(device)
    model(torch.zeros(1, 3, 64, 64, device=device))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step(batch):
        images, labels = (tensor.to(device, non_blocking=True) for tensor in batch)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    report = cachebisect.bisect(
        loader, step, state=[model, optimizer], budget=arguments.budget, name="image folder"
    )
    print(report)
    if arguments.save:
        report.save(arguments.save)


if __name__ == "__main__":
    main()
