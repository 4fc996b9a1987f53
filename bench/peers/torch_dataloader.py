#!/usr/bin/env python3
"""PyTorch's DataLoader on the work of bench/pipelines/jpeg_rrc224.json, to compare on the same machine.

    torch_dataloader.py FOLDER [--workers N] [--seconds S] [--rounds R]

FOLDER holds class folders of JPEGs. Read, decode (torchvision's libjpeg-turbo), random resized crop 224, flip,
uint8 batches of 64; worker processes, prefetch_factor 2. Prints samples/s and samples per CPU second of the whole
process tree: the median of R windows of S seconds, with their range.
"""
import argparse
import os
import time

import torch
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

BATCH = 64


class Photos(Dataset):
    def __init__(self, folder):
        classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        self.files = [(os.path.join(folder, name, file), label) for label, name in enumerate(classes)
                      for file in sorted(os.listdir(os.path.join(folder, name)))]
        self.transform = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        image = torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)
        return self.transform(image), label


def process_tree_cpu_seconds():
    tick = os.sysconf("SC_CLK_TCK")
    children, seconds = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(process))
        seconds[int(process)] = (int(fields[11]) + int(fields[12])) / tick
    total, todo = 0.0, [os.getpid()]
    while todo:
        process = todo.pop()
        total += seconds.get(process, 0)
        todo += children.get(process, [])
    return total


def batches(loader):
    while True:
        yield from loader


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=3)
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    loader = DataLoader(Photos(options.folder), BATCH, shuffle=True, num_workers=options.workers, drop_last=True,
                        persistent_workers=options.workers > 0)
    source = batches(loader)
    for _ in range(8):
        next(source)
    rates = []
    for _ in range(options.rounds):
        cpu, begin, samples = process_tree_cpu_seconds(), time.perf_counter(), 0
        while time.perf_counter() - begin < options.seconds:
            next(source)
            samples += BATCH
        seconds = time.perf_counter() - begin
        rates.append((samples / seconds, samples / (process_tree_cpu_seconds() - cpu)))
    rates.sort()
    middle = rates[len(rates) // 2]
    per_cpu = sorted(rate[1] for rate in rates)[len(rates) // 2]
    print(f"DataLoader, {options.workers} workers: {middle[0]:.0f} samples/s ({rates[0][0]:.0f}..{rates[-1][0]:.0f})"
          f" {per_cpu:.0f} per CPU second")


if __name__ == "__main__":
    main()
