"""Trains with Hugging Face's Trainer; SlowMember holds it back. Knows nothing of cachebisect."""

import sys
import tempfile
from pathlib import Path

import torch
from transformers import Trainer, TrainingArguments

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from loaders import Compose, Items, Member, SlowMember


class Examples(Items):
    """Items as a Trainer wants them."""

    def __getitem__(self, index):
        x, _ = super().__getitem__(index)
        return {"x": x, "labels": torch.zeros(1)}


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x, labels):
        return {"loss": (self.layer(x) - labels).square().mean()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=4, dataloader_num_workers=2, num_train_epochs=100,
            learning_rate=1e-6, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True,
            logging_strategy="no",
        )  # fmt: skip
        data = Examples(Compose([Member(), SlowMember()]), 128)
        Trainer(Regression(), arguments, train_dataset=data).train()
    print("end")


if __name__ == "__main__":
    main()
