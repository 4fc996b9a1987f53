"""Trains on samples that are read in one of the ways of --case, from a server or from files.

Knows nothing of cachebisect. --server: the address of storage_server.py. --data: a folder for
files, which are made at the first run.
"""

from __future__ import annotations

import argparse
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES = 100_000
SAMPLE_BYTES = 60_000
CHUNK_SAMPLES = 256
"""Samples in a chunk of HDF5: 15 MB are read for each of them."""
ROWS = 1024
PARTS = 40
"""Places of the file that a sample is read from."""


def as_sample(data: Any) -> torch.Tensor:
    return torch.frombuffer(bytearray(data[:SAMPLE_BYTES]), dtype=torch.uint8)


class Gets(Dataset):  # type: ignore[type-arg]
    """A client and a connection for each sample, one request after the other."""

    def __init__(self, server: str) -> None:
        self.server = server

    def __len__(self) -> int:
        return SAMPLES

    def read(self, index: int) -> bytes:
        import requests

        with requests.Session() as session:
            return session.get(f"{self.server}/{index}").content

    def __getitem__(self, index: int) -> torch.Tensor:
        return as_sample(self.read(index))


class Kept(Gets):
    """One session per worker, `gets` requests for each sample."""

    session: Any = None
    gets = 1

    def read(self, index: int) -> bytes:
        import requests

        if self.session is None:
            self.session = requests.Session()
        for _ in range(self.gets):
            content: bytes = self.session.get(f"{self.server}/{index}").content
        return content


class Slower(Kept):
    """A change by which each sample takes four requests."""

    gets = 4


class Throttled(Gets):
    """Asks again after each 503; the server gives one to every third request."""

    def read(self, index: int) -> bytes:
        while True:
            try:
                with urllib.request.urlopen(f"{self.server}/busy/{index}") as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise


class Chunks(Dataset):  # type: ignore[type-arg]
    """Samples of an HDF5 file that lie in compressed chunks of many."""

    file: Any = None

    def __init__(self, folder: str) -> None:
        import h5py
        import numpy as np

        self.path = os.path.join(folder, "samples.h5")
        if not os.path.exists(self.path):
            with h5py.File(self.path, "w") as file:
                chunks = (CHUNK_SAMPLES, SAMPLE_BYTES)
                made = file.create_dataset(
                    "x", (ROWS, SAMPLE_BYTES), "u1", chunks=chunks, compression="lzf"
                )
                made[:] = np.random.default_rng(1).integers(0, 255, (ROWS, SAMPLE_BYTES), "u1")

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> torch.Tensor:
        import h5py

        if self.file is None:
            self.file = h5py.File(self.path, "r")["x"]
        return as_sample(self.file[index].tobytes())


class Opens(Dataset):  # type: ignore[type-arg]
    """One large file, opened for each sample."""

    def __init__(self, folder: str) -> None:
        self.path = Path(folder) / "samples.bin"
        if not self.path.exists():
            self.path.write_bytes(os.urandom(ROWS * SAMPLE_BYTES))

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> torch.Tensor:
        with self.path.open("rb") as file:
            parts = []
            for part in range(PARTS):
                file.seek((index + part * ROWS // PARTS) % ROWS * SAMPLE_BYTES)
                parts.append(file.read(SAMPLE_BYTES))
        return as_sample(b"".join(parts))


CASES = {
    "gets": Gets,
    "kept": Kept,
    "slower": Slower,
    "throttled": Throttled,
    "chunks": Chunks,
    "opens": Opens,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--server", default="")
    parser.add_argument("--data", default=".")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    of_files = options.case in ("chunks", "opens")
    dataset = CASES[options.case](options.data if of_files else options.server)
    loader = DataLoader(dataset, batch_size=16, num_workers=options.workers, shuffle=True)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(10_000):
        for batch in loader:
            loss = model(batch[:, :1024].float() / 255).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
