"""Trains a small network with Lightning's Trainer. Knows nothing of cachebisect.

    cachebisect run -- python examples/python/lightning_module.py
    cachebisect run -- python examples/python/lightning_module.py --workers 4

The images are random; resizing them is what costs.
"""

import argparse

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2


class RandomImages(Dataset):
    def __init__(self, length: int, transform: v2.Compose) -> None:
        self.length = length
        self.transform = transform

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple:
        image = torch.randint(0, 256, (3, 128, 128), dtype=torch.uint8)
        return self.transform(image), index % 10


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
            nn.Linear(128, 10),
        )  # fmt: skip

    def training_step(self, batch: tuple, _index: int) -> torch.Tensor:
        images, labels = batch
        return nn.functional.cross_entropy(self.layers(images), labels)

    def validation_step(self, batch: tuple, _index: int) -> None:
        images, labels = batch
        self.log("loss", nn.functional.cross_entropy(self.layers(images), labels))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(64, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    train = DataLoader(
        RandomImages(4096, transform), batch_size=16, shuffle=True, num_workers=arguments.workers
    )
    validation = DataLoader(RandomImages(128, transform), batch_size=16)
    trainer = lightning.Trainer(
        max_epochs=arguments.epochs, logger=False, enable_checkpointing=False,
        enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Classifier(), train, validation)


if __name__ == "__main__":
    main()
