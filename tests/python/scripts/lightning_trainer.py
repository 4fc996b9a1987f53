"""Trains with Lightning's Trainer; SlowMember holds it back. Knows nothing of cachebisect."""

import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader

try:
    import lightning
except ImportError:
    import pytorch_lightning as lightning

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from loaders import Compose, Items, Member, SlowMember


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _index):
        x, _ = batch
        return self.layer(x).square().mean()

    def validation_step(self, batch, _index):
        x, _ = batch
        self.log("loss", self.layer(x).square().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-6)


def main():
    data = Items(Compose([Member(), SlowMember()]), 128)
    train = DataLoader(data, batch_size=4, shuffle=True, num_workers=2)
    validation = DataLoader(Items(length=16), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=100, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Regression(), train, validation)
    print("end")


if __name__ == "__main__":
    main()
