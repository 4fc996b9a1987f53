"""Trains with accelerate; SlowMember holds it back. Knows nothing of cachebisect."""

import sys
from pathlib import Path

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from loaders import Compose, Items, Member, SlowMember


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    data = Items(Compose([Member(), SlowMember()]), 128)
    loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(100):
        for x, _ in loader:
            optimizer.zero_grad()
            accelerator.backward(model(x).square().mean())
            optimizer.step()
    print("end")


if __name__ == "__main__":
    main()
