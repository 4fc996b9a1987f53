"""Trains with DistributedDataParallel on samples that a server sends. Knows nothing of cachebisect.

torchrun ... bench/python/nodes_loop.py --server http://10.77.0.254:8000
"""

from __future__ import annotations

import argparse
import urllib.request

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Remote(Dataset):
    def __init__(self, server: str) -> None:
        self.server = server

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> torch.Tensor:
        with urllib.request.urlopen(f"{self.server}/{index}") as answer:
            return torch.frombuffer(bytearray(answer.read(256)), dtype=torch.uint8).float()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    data = Remote(options.server)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler, num_workers=1, drop_last=True)
    model = DistributedDataParallel(nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    for _ in range(1000):
        for items in loader:
            optimizer.zero_grad()
            model(items).sum().backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
